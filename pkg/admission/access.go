package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// env refuses reserved names, and values read from a file in an owned volume.
func (c *podComparison) env(r, a *container) {
	for i, name := range namesOf(a.Env) {
		e, at := &a.Env[i], a.at.Child("env").Key(name)
		if compose.IsReservedEnv(e.Name) && !has(r.Env, e) {
			c.add(compose.RuleReservedEnv, at, fmt.Sprintf("%s was given %s, a name that only Kandev sets", a.what(), e.Name), nil, envValue(e))
		}
		if e.ValueFrom != nil && e.ValueFrom.FileKeyRef != nil && compose.IsOwnedVolume(e.ValueFrom.FileKeyRef.VolumeName) {
			c.add(compose.RuleOwnedVolumeMount, at.Child("valueFrom", "fileKeyRef", "volumeName"),
				fmt.Sprintf("%s reads %s from a file in %s", a.what(), e.Name, e.ValueFrom.FileKeyRef.VolumeName), nil, e.ValueFrom.FileKeyRef.VolumeName)
		}
	}
}

func envValue(e *corev1.EnvVar) any {
	if e.ValueFrom != nil {
		return e.ValueFrom
	}
	return e.Value
}

// envFrom refuses sources that could carry a reserved name.
func (c *podComparison) envFrom(r, a *container) {
	for i, name := range namesOf(a.EnvFrom) {
		e := &a.EnvFrom[i]
		if compose.EnvFromMayReserve(e.Prefix) && !has(r.EnvFrom, e) {
			c.add(compose.RuleReservedEnvFrom, a.at.Child("envFrom").Key(name),
				fmt.Sprintf("%s was given an environment source with prefix %q, which could set HOME, AGENTCTL_* or KANDEV_*", a.what(), e.Prefix), nil, e)
		}
	}
}

// has reports whether a list holds an item.
func has[T any](list []T, item *T) bool {
	return slices.ContainsFunc(list, func(x T) bool { return equal(&x, item) })
}

// controlPort returns the control port as it was requested on the main container.
func (c *podComparison) controlPort() corev1.ContainerPort {
	for _, r := range containersOf(&c.requested.Spec, c.options.MainContainer) {
		if r.role != mainRole {
			continue
		}
		if i := slices.IndexFunc(r.Ports, func(p corev1.ContainerPort) bool { return p.Name == compose.ControlPortName }); i >= 0 {
			return r.Ports[i]
		}
	}
	return corev1.ContainerPort{Name: compose.ControlPortName, ContainerPort: compose.ControlPort, Protocol: corev1.ProtocolTCP}
}

// ports compares the control port on the main container and refuses it anywhere else.
func (c *podComparison) ports(r, a *container) {
	control := c.controlPort()
	found := a.role != mainRole || !slices.ContainsFunc(r.Ports, func(p corev1.ContainerPort) bool { return p.Name == control.Name })
	expected := !found
	for i, name := range namesOf(a.Ports) {
		p, at := &a.Ports[i], a.at.Child("ports").Key(name)
		if p.Name != control.Name && p.ContainerPort != control.ContainerPort {
			continue
		}
		if expected && !found {
			found = true
			c.controlPortFields(a, &control, p, name)
			continue
		}
		c.add(compose.RuleControlPort, at, fmt.Sprintf("%s was given the control port, by number or by name", a.what()), nil, p)
	}
	if !found {
		c.add(compose.RuleControlPort, a.at.Child("ports").Key(control.Name), fmt.Sprintf("the control port of %s was removed", a.what()), &control, nil)
	}
}

// controlPortFields compares the control port field by field.
func (c *podComparison) controlPortFields(a *container, control, p *corev1.ContainerPort, name string) {
	at := a.at.Child("ports").Key(control.Name)
	for _, d := range differences(at, control, p) {
		// Under hostNetwork the API server copies the port's number into hostPort.
		if c.admitted.Spec.HostNetwork && p.HostPort == p.ContainerPort && d.at.String() == at.Child("hostPort").String() {
			continue
		}
		c.add(compose.RuleControlPort, d.at, fmt.Sprintf("the control port of %s was changed", a.what()),
			d.requested, d.admitted, at, a.at.Child("ports").Key(name))
	}
}

// terminationLog refuses a termination message file in an owned path: the kubelet mounts a file of its own
// there and publishes what is written to it in the Pod's status.
func (c *podComparison) terminationLog(r, a *container) {
	if owned := compose.OwnedPathAround(a.TerminationMessagePath); owned != "" && a.TerminationMessagePath != r.TerminationMessagePath {
		c.add(compose.RuleOwnedPath, a.at.Child("terminationMessagePath"),
			fmt.Sprintf("the termination message of %s is read from %s, inside Kandev's %s, and published in the Pod's status", a.what(), a.TerminationMessagePath, owned),
			r.TerminationMessagePath, a.TerminationMessagePath)
	}
}

// devices refuses block devices that are owned volumes or lie in an owned path.
func (c *podComparison) devices(a *container) {
	for i, name := range namesOf(a.VolumeDevices) {
		d, at := &a.VolumeDevices[i], a.at.Child("volumeDevices").Key(name)
		if compose.IsOwnedVolume(d.Name) {
			c.add(compose.RuleOwnedVolumeMount, at.Child("name"), fmt.Sprintf("%s takes %s as a block device", a.what(), d.Name), nil, d.Name)
		} else if owned := compose.OwnedPathAround(d.DevicePath); owned != "" {
			c.add(compose.RuleOwnedPath, at.Child("devicePath"),
				fmt.Sprintf("%s has device %q at %s, inside Kandev's %s", a.what(), d.Name, d.DevicePath, owned), nil, d.DevicePath)
		}
	}
}

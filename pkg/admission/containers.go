package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// role says what a container is to Kandev.
type role string

const (
	mainRole      role = "main container"
	companionRole role = "companion" // another ordinary container: the only role that may hold a grant
	initRole      role = "init container"
	ephemeralRole role = "ephemeral container"
)

// container is one container of a Pod and its place.
type container struct {
	*corev1.Container

	role   role
	at     *field.Path
	target string // whose process namespace an ephemeral container shares
}

// what names the container in a sentence.
func (c *container) what() string { return fmt.Sprintf("%s %q", c.role, c.Name) }

// key tells the container from all others of a Pod.
func (c *container) key() string { return string(c.role) + "/" + c.Name }

// containersOf lists every container of a Pod.
func containersOf(s *corev1.PodSpec, main string) []*container {
	var out []*container
	for i, name := range namesOf(s.InitContainers) {
		out = append(out, &container{Container: &s.InitContainers[i], role: initRole, at: specRoot.Child("initContainers").Key(name)})
	}
	for i, name := range namesOf(s.Containers) {
		r := companionRole
		if s.Containers[i].Name == main {
			r = mainRole
		}
		out = append(out, &container{Container: &s.Containers[i], role: r, at: specRoot.Child("containers").Key(name)})
	}
	for i, name := range namesOf(s.EphemeralContainers) {
		e := &s.EphemeralContainers[i]
		out = append(out, &container{
			Container: (*corev1.Container)(&e.EphemeralContainerCommon), role: ephemeralRole,
			at: specRoot.Child("ephemeralContainers").Key(name), target: e.TargetContainerName,
		})
	}
	return out
}

// requestedTwin returns a function that finds the container that was requested in the place of an
// admitted one. A container that was not requested has an empty twin.
func (c *podComparison) requestedTwin() func(*container) *container {
	twins := map[string]*container{}
	for _, r := range containersOf(&c.requested.Spec, c.options.MainContainer) {
		if twins[r.key()] == nil {
			twins[r.key()] = r
		}
	}
	return func(a *container) *container {
		if r := twins[a.key()]; r != nil {
			return r
		}
		return &container{Container: &corev1.Container{Name: a.Name}, role: a.role, at: a.at}
	}
}

// containers compares what Kandev owns in each container, and refuses what no container may have gained.
func (c *podComparison) containers() {
	admitted := containersOf(&c.admitted.Spec, c.options.MainContainer)
	c.containerNames(admitted)
	twin := c.requestedTwin()
	for _, a := range admitted {
		r := twin(a)
		if a.role == mainRole {
			c.mainContainer(r, a)
		}
		c.ephemeral(a)
		c.env(r, a)
		c.envFrom(r, a)
		c.ports(r, a)
		c.mounts(r, a)
		c.devices(a)
		c.terminationLog(r, a)
	}
}

// containerNames finds names that stand for two containers, and a main container that is not there.
func (c *podComparison) containerNames(admitted []*container) {
	seen := map[string]bool{}
	for _, a := range admitted {
		switch {
		case !seen[a.Name]:
		case a.Name == c.options.MainContainer:
			c.add(compose.RuleMainContainerDuplicate, a.at, fmt.Sprintf("a second container is named %q like the main container", a.Name), nil, a.Image)
		default:
			c.add(RuleContainerDuplicate, a.at, fmt.Sprintf("a second container is named %q", a.Name), nil, a.Image)
		}
		seen[a.Name] = true
	}
	if !slices.ContainsFunc(admitted, func(a *container) bool { return a.role == mainRole }) {
		c.add(compose.RuleMainContainerMissing, specRoot.Child("containers").Key(c.options.MainContainer),
			fmt.Sprintf("main container %q is no longer among the ordinary containers", c.options.MainContainer), c.options.MainContainer, nil)
	}
}

// mainContainer compares what the main container starts.
func (c *podComparison) mainContainer(r, a *container) {
	for _, f := range []struct {
		name    string
		was, is []string
	}{{"command", r.Command, a.Command}, {"args", r.Args, a.Args}} {
		if !slices.Equal(f.was, f.is) {
			c.add(compose.RuleOwnedEntrypoint, a.at.Child(f.name), fmt.Sprintf("%s of %s was changed", f.name, a.what()), f.was, f.is)
		}
	}
	same(&c.collector, compose.RuleOwnedEntrypoint, a.at.Child("workingDir"), "workingDir of "+a.what()+" was changed", r.WorkingDir, a.WorkingDir)
	for _, f := range []struct {
		name    string
		was, is any
	}{{"restartPolicy", &r.RestartPolicy, &a.RestartPolicy}, {"restartPolicyRules", &r.RestartPolicyRules, &a.RestartPolicyRules}} {
		if !equal(f.was, f.is) {
			c.add(compose.RuleOwnedRestartPolicy, a.at.Child(f.name),
				fmt.Sprintf("%s of %s was changed, which overrides restartPolicy Always of the Pod", f.name, a.what()), f.was, f.is)
		}
	}
}

// ephemeral refuses ephemeral containers in a create response, where the API server has none, and later
// one that shares the processes of a container with access to owned volumes.
func (c *podComparison) ephemeral(a *container) {
	if a.role != ephemeralRole {
		return
	}
	if c.options.Phase == AtCreate {
		c.add(compose.RuleEphemeralContainers, a.at, a.what()+" was added to a Pod that is just being created", nil, a.Image)
	}
	if a.target == "" {
		return
	}
	if a.target == c.options.MainContainer || len(mountsOf(c.companion(a.target), compose.WorkspaceVolume)) > 0 {
		c.add(RuleProcessNamespace, a.at.Child("targetContainerName"),
			fmt.Sprintf("%s shares the processes of %q, and through /proc its owned volumes", a.what(), a.target), nil, a.target)
	}
}

// companion finds an admitted ordinary container by name; an empty one when there is none.
func (c *podComparison) companion(name string) *corev1.Container {
	for i := range c.admitted.Spec.Containers {
		if c.admitted.Spec.Containers[i].Name == name {
			return &c.admitted.Spec.Containers[i]
		}
	}
	return &corev1.Container{}
}

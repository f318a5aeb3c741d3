package podrules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

func (c *checker) ports(ctr *field.Path, ports []corev1.ContainerPort) {
	if len(ports) == 0 {
		return
	}
	names := sets.Set[string]{}
	for i := range ports {
		port, p := &ports[i], ctr.Child("ports").Index(i)
		if port.Name != "" {
			c.portName(p, port.Name, names)
		}
		if port.ContainerPort == 0 {
			c.required(p.Child("containerPort"), "")
		} else {
			c.portNumber(p, "containerPort", port.ContainerPort)
		}
		if port.HostPort != 0 {
			c.portNumber(p, "hostPort", port.HostPort)
		}
		if port.Protocol != "" {
			oneOf(c, p, "protocol", port.Protocol, protocols)
		}
	}
}

func (c *checker) portName(p *field.Path, name string, names sets.Set[string]) {
	switch msgs := validation.IsValidPortName(name); {
	case len(msgs) > 0:
		c.invalidEach(p.Child("name"), name, msgs)
	case names.Has(name):
		c.duplicate(p.Child("name"), name)
	default:
		names.Insert(name)
	}
}

func (c *checker) portNumber(p *field.Path, name string, port int32) {
	if msgs := validation.IsValidPortNum(int(port)); len(msgs) > 0 {
		c.invalidEach(p.Child(name), port, msgs)
	}
}

// portRef checks a port given by number or by name.
func (c *checker) portRef(p *field.Path, port intstr.IntOrString) {
	if port.Type == intstr.Int {
		c.portNumber(p, "port", port.IntVal)
		return
	}
	c.invalidEach(p.Child("port"), port.StrVal, validation.IsValidPortName(port.StrVal))
}

// hostPort returns the port of the node that the server assigns: on the host's network every port is
// one of the node's.
func (c *checker) hostPort(port *corev1.ContainerPort) int32 {
	if port.HostPort == 0 && c.spec.HostNetwork {
		return port.ContainerPort
	}
	return port.HostPort
}

// hostPortsUnique reports ports of the node that the containers, whose list is at p, take twice.
func (c *checker) hostPortsUnique(p *field.Path, containers []corev1.Container) {
	var taken sets.Set[string]
	for i := range containers {
		for j := range containers[i].Ports {
			port := &containers[i].Ports[j]
			number := c.hostPort(port)
			if number == 0 {
				continue
			}
			protocol := port.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			key := fmt.Sprintf("%s/%s/%d", protocol, port.HostIP, number)
			if taken.Has(key) {
				c.duplicate(p.Index(i).Child("ports").Index(j).Child("hostPort"), key)
			}
			if taken == nil {
				taken = sets.Set[string]{}
			}
			taken.Insert(key)
		}
	}
}

// hostNetworkPorts reports ports of the node other than the container's, which the host's network does
// not allow.
func (c *checker) hostNetworkPorts(p *field.Path) {
	if !c.spec.HostNetwork {
		return
	}
	for i := range c.spec.Containers {
		for j := range c.spec.Containers[i].Ports {
			port := &c.spec.Containers[i].Ports[j]
			if c.hostPort(port) != port.ContainerPort {
				c.invalid(p.Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort,
					"must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
}

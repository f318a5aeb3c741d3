package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestPorts(t *testing.T) {
	run(t, []row{
		{"ports", inContainer("ports: [{name: http, containerPort: 80}, {containerPort: 65535, hostPort: 1, protocol: SCTP}]"), nil},
		{"number missing and out of range", inContainer("ports: [{containerPort: 0}, {containerPort: 65536, hostPort: -1}]"), field.ErrorList{
			required("spec.containers[0].ports[0].containerPort", ""),
			invalid("spec.containers[0].ports[1].containerPort", "must be between 1 and 65535, inclusive"),
			invalid("spec.containers[0].ports[1].hostPort", "must be between 1 and 65535, inclusive"),
		}},
		{"names", inContainer("ports: [{name: HTTP, containerPort: 1}, {name: a, containerPort: 2}, {name: a, containerPort: 3}]"), field.ErrorList{
			invalid("spec.containers[0].ports[0].name", "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
			invalid("spec.containers[0].ports[0].name", "must contain at least one letter (a-z)"),
			duplicate("spec.containers[0].ports[2].name"),
		}},
		{"protocol", inContainer("ports: [{containerPort: 1, protocol: tcp}]"), field.ErrorList{
			notSupported("spec.containers[0].ports[0].protocol", `supported values: "SCTP", "TCP", "UDP"`),
		}},
		{"one port of the host twice", "{spec: {containers: [{name: a, image: i, ports: [{containerPort: 1, hostPort: 9}]}, {name: b, image: i, ports: [{containerPort: 2, hostPort: 9, protocol: TCP}, {containerPort: 2, hostPort: 9, protocol: UDP}, {containerPort: 2, hostPort: 9, hostIP: 1.2.3.4}]}]}}", field.ErrorList{
			duplicate("spec.containers[1].ports[0].hostPort"),
		}},
		{"init containers do not share", "{spec: {containers: [{name: a, image: i}], initContainers: [{name: b, image: i, ports: [{containerPort: 1, hostPort: 9}]}, {name: c, image: i, ports: [{containerPort: 1, hostPort: 9}]}]}}", nil},
		{"the network of the host makes every port one of its own", "{spec: {hostNetwork: true, containers: [{name: a, image: i, ports: [{containerPort: 9}, {containerPort: 8, hostPort: 7}]}, {name: b, image: i, ports: [{containerPort: 9}]}]}}", field.ErrorList{
			duplicate("spec.containers[1].ports[0].hostPort"),
			invalid("spec.containers[0].ports[1].hostPort", "must match `containerPort` when `hostNetwork` is true"),
		}},
	})
}

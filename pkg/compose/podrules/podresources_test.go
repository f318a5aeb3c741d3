package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestPodresources(t *testing.T) {
	run(t, []row{
		{"containers fit", "{spec: {resources: {requests: {cpu: 2}, limits: {cpu: 3}}, containers: [{name: c0, image: i, resources: {requests: {cpu: 1}}}, {name: c1, image: i, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}], initContainers: []}}", nil},
		{"containers ask for more together", "{spec: {resources: {requests: {cpu: 2}}, containers: [{name: c0, image: i, resources: {requests: {cpu: 1}}}, {name: c1, image: i, resources: {limits: {cpu: 2}}}], initContainers: []}}", field.ErrorList{
			invalid("spec.resources.requests[cpu]", "must be greater than or equal to aggregate container requests of 3"),
		}},
		{"a container may have more than the Pod", "{spec: {resources: {limits: {cpu: 1}}, containers: [{name: c0, image: i, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}], initContainers: []}}", field.ErrorList{
			invalid("spec.resources.containers[0][cpu].limits", "must be less than or equal to pod limits of 1"),
		}},
		{"an init container asks for more with the sidecar before it", "{spec: {resources: {requests: {cpu: 2}}, containers: [{name: c0, image: i, resources: {}}], initContainers: [{name: s, image: i, restartPolicy: Always, resources: {requests: {cpu: 1}}}, {name: b, image: i, resources: {requests: {cpu: 2}}}]}}", field.ErrorList{
			invalid("spec.resources.requests[cpu]", "must be greater than or equal to aggregate container requests of 3"),
		}},
		{"requests come from the containers", "{spec: {resources: {limits: {cpu: 1, memory: 1Gi}}, containers: [{name: c0, image: i, resources: {requests: {cpu: 2}}}], initContainers: []}}", field.ErrorList{
			invalid("spec.resources.requests", "must be less than or equal to cpu limit of 1"),
		}},
		{"huge pages come from the containers", "{spec: {resources: {limits: {cpu: 1}}, containers: [{name: c0, image: i, resources: {limits: {cpu: 1, hugepages-2Mi: 2Mi}}}], initContainers: []}}", nil},
		{"huge pages of the containers", "{spec: {resources: {limits: {cpu: 1, hugepages-2Mi: 2Mi}}, containers: [{name: c0, image: i, resources: {limits: {cpu: 1, hugepages-2Mi: 4Mi}}}], initContainers: []}}", field.ErrorList{
			invalid("spec.resources.containers[0][hugepages-2Mi].limits", "must be less than or equal to pod limits of 2Mi"),
			invalid("spec.resources.limits[hugepages-2Mi]", "must be greater than or equal to aggregate container limits of 4Mi"),
			invalid("spec.resources.requests[hugepages-2Mi]", "must be greater than or equal to aggregate container requests of 4Mi"),
		}},
		{"names and claims", "{spec: {resources: {limits: {ephemeral-storage: 1, disk: 1}, claims: [{name: a}]}, containers: [{name: c0, image: i, resources: {}}], initContainers: []}}", field.ErrorList{
			forbidden("spec.resources.claims", "claims may not be set for Resources at pod-level"),
			invalid("spec.resources.limits[disk]", "must be a standard resource type or fully qualified"),
			notSupported("spec.resources.limits[ephemeral-storage]", `supported values: "cpu", "hugepages-", "memory"`),
			notFound("spec.resources.claims[0]", "must be one of the names in pod.spec.resourceClaims which is empty"),
		}},
		{"Windows has none", "{spec: {os: {name: windows}, resources: {}, containers: [{name: a, image: i}]}}", field.ErrorList{
			forbidden("spec.resources", "may not be set for a windows pod"),
		}},
	})
}

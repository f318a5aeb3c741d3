package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestResources(t *testing.T) {
	run(t, []row{
		{"requests and limits", inContainer("resources: {requests: {cpu: 1500u, memory: 1Gi, ephemeral-storage: 1Gi}, limits: {cpu: 1500u, nvidia.com/gpu: 1, hugepages-2Mi: 4Mi}}"), nil},
		{"request above limit", inContainer("resources: {requests: {cpu: 2}, limits: {cpu: 1}}"), field.ErrorList{
			invalid("spec.containers[0].resources.requests", "must be less than or equal to cpu limit of 1"),
		}},
		{"request rounded up to the limit", inContainer("resources: {requests: {cpu: 1500u}, limits: {cpu: 1200u}}"), nil},
		{"negative", inContainer("resources: {requests: {cpu: -1}, limits: {memory: -1}}"), field.ErrorList{
			invalid("spec.containers[0].resources.limits[memory]", "must be greater than or equal to 0"),
			invalid("spec.containers[0].resources.requests[cpu]", "must be greater than or equal to 0"),
		}},
		{"names", inContainer(`resources: {limits: {disk: 1, storage: 1, "a b": 1, requests.example.com/x: 1, x.kubernetes.io/y: 1}}`), field.ErrorList{
			invalid("spec.containers[0].resources.limits[a b]", "must be a standard resource for containers"),
			invalid("spec.containers[0].resources.limits[a b]", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"),
			invalid("spec.containers[0].resources.limits[disk]", "must be a standard resource for containers"),
			invalid("spec.containers[0].resources.limits[disk]", "must be a standard resource type or fully qualified"),
			invalid("spec.containers[0].resources.limits[requests.example.com/x]", "doesn't follow extended resource name standard"),
			invalid("spec.containers[0].resources.limits[storage]", "must be a standard resource for containers"),
		}},
		{"part of a device", inContainer("resources: {limits: {example.com/x: 500m}}"), field.ErrorList{
			invalid("spec.containers[0].resources.limits[example.com/x]", "must be an integer"),
		}},
		{"devices cannot be promised twice", inContainer("resources: {requests: {example.com/x: 1, example.com/y: 1}, limits: {example.com/y: 2}}"), field.ErrorList{
			required("spec.containers[0].resources.limits", "Limit must be set for non overcommitable resources"),
			invalid("spec.containers[0].resources.requests", "must be equal to example.com/y limit of 2"),
		}},
		{"huge pages alone", inContainer("resources: {limits: {hugepages-2Mi: 2Mi}}"), field.ErrorList{
			forbidden("spec.containers[0].resources", "HugePages require cpu or memory"),
		}},
		{"huge pages of odd sizes", inContainer("resources: {limits: {cpu: 1, hugepages-2Mi: 3Mi, hugepages-x: 1, hugepages-1m: 1}}"), field.ErrorList{
			invalid("spec.containers[0].resources.limits[hugepages-1m]", "1 is not positive integer multiple of hugepages-1m"),
			invalid("spec.containers[0].resources.limits[hugepages-2Mi]", "3Mi is not positive integer multiple of hugepages-2Mi"),
			invalid("spec.containers[0].resources.limits[hugepages-x]", "1 is not positive integer multiple of hugepages-x"),
		}},
		{"claims", "{spec: {containers: [{name: a, image: i, resources: {claims: [{name: g, request: r}, {name: g, request: s}, {name: h}]}}], resourceClaims: [{name: g, resourceClaimName: a}, {name: h, resourceClaimTemplateName: b}]}}", nil},
		{"claims that are not there", inContainer(`resources: {claims: [{name: ""}, {name: g}]}`), field.ErrorList{
			required("spec.containers[0].resources.claims[0]", ""),
			notFound("spec.containers[0].resources.claims[1]", "must be one of the names in pod.spec.resourceClaims which is empty"),
		}},
		{"claims twice", "{spec: {containers: [{name: a, image: i, resources: {claims: [{name: g}, {name: g}, {name: h, request: R}, {name: h, request: R}, {name: h}, {name: x}]}}], resourceClaims: [{name: h, resourceClaimName: a}, {name: g, resourceClaimName: a}]}}", field.ErrorList{
			duplicate("spec.containers[0].resources.claims[1]"),
			invalid("spec.containers[0].resources.claims[2].request", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			invalid("spec.containers[0].resources.claims[3].request", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			duplicate("spec.containers[0].resources.claims[3]"),
			duplicate("spec.containers[0].resources.claims[4]"),
			notFound("spec.containers[0].resources.claims[5]", "must be one of the names in pod.spec.resourceClaims: g, h"),
		}},
		{"claims of the Pod", inSpec("resourceClaims: [{resourceClaimName: a}, {name: A, resourceClaimName: B}, {name: a, resourceClaimTemplateName: B}, {name: a, resourceClaimName: a, resourceClaimTemplateName: b}, {name: c}]"), field.ErrorList{
			required("spec.resourceClaims[0].name", ""),
			invalid("spec.resourceClaims[1].name", "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"),
			invalid("spec.resourceClaims[1].resourceClaimName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.resourceClaims[2].resourceClaimTemplateName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			duplicate("spec.resourceClaims[3].name"),
			invalid("spec.resourceClaims[3]", "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"),
			invalid("spec.resourceClaims[4]", "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
		}},
		{"claims of a static Pod", "{metadata: {annotations: {kubernetes.io/config.mirror: x}}, spec: {nodeName: nm, containers: [{name: a, image: i}], resourceClaims: [{name: a, resourceClaimName: a}]}}", field.ErrorList{
			forbidden("spec.resourceClaims[0]", "static pods do not support resource claims"),
		}},
	})
}

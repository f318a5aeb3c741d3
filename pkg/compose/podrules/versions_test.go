package podrules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestVersions: what an older API server drops unread, or judges otherwise, next to the first that does not.
func TestVersions(t *testing.T) {
	const (
		imageVolume = "{spec: {containers: [{name: main, image: i, volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /v}], volumeDevices: [{name: d, devicePath: /v}]}], volumes: [{name: v, image: {}}, {name: v, emptyDir: {}}, {name: d, persistentVolumeClaim: {claimName: c}}]}}"
		fileKey     = "env: [{name: A, valueFrom: {fileKeyRef: {volumeName: other, path: p, key: A}}}]"
		rules       = "restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [1]}}]"
		resize      = "resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]"
		mapped      = `hostAliases: [{ip: "::ffff:1.2.3.4"}]`
		selinux     = "securityContext: {seLinuxChangePolicy: MountOption}"
		processes   = "hostPID: true, shareProcessNamespace: true"
		bundle      = "projected: {sources: [{clusterTrustBundle: {}}, {podCertificate: {}}]}"
	)
	runFor(t, 30, []row{
		{"a version before all that are known", inVolume(bundle), nil},
	})
	const resources = "resources: {requests: {cpu: 2, hugepages-2Mi: 2Mi}}, initContainers: [{name: init, image: i, resources: {limits: {hugepages-2Mi: 2Mi, cpu: 1}}}]"
	const podResources = "{spec: {containers: [{name: main, image: i, resources: {limits: {hugepages-2Mi: 2Mi, cpu: 1}}}], " + resources + "}}"
	runFor(t, 34, []row{
		{"an image volume is dropped with its mounts", imageVolume, nil},
		{"a file key is dropped, and nothing is left", inContainer(fileKey), field.ErrorList{
			invalid("spec.containers[0].env[0].valueFrom", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"),
		}},
		{"a host name is dropped", inSpec("hostnameOverride: A_B"), nil},
		{"restart rules are dropped", inContainer(rules), nil},
		{"restart rules of an init container are dropped", inInitContainer(rules), nil},
	})
	runFor(t, 35, []row{
		{"a file key", inContainer(fileKey), field.ErrorList{
			notFound("spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName", noVolume),
		}},
		{"a restart rule that is too young", inContainer("restartPolicy: Never, " + rules), field.ErrorList{
			notSupported("spec.containers[0].restartPolicyRules[0].action", `supported values: "Restart"`),
		}},
		{"a resize policy of an init container", inInitContainer(resize), nil},
		{"an address in IPv6's clothes", inSpec(mapped), nil},
		{"restart rules of a sidecar", inInitContainer("restartPolicy: Always, " + rules), field.ErrorList{
			forbidden("spec.initContainers[0].restartPolicyRules", "restartPolicyRules are not allowed for init containers with restart policy Always"),
		}},
	})
	runFor(t, 36, []row{
		{"no limits of the Pod from its containers", podResources, field.ErrorList{
			required("spec.resources.limits", "Limit must be set for non overcommitable resources"),
		}},
		{"an image volume", imageVolume, field.ErrorList{
			required("spec.volumes[0].image.reference", ""),
			invalid("spec.containers[0].volumeMounts[0].mountPath", "must not already exist as a path in volumeDevices"),
			invalid("spec.containers[0].volumeMounts[1].mountPath", "must be unique"),
			invalid("spec.containers[0].volumeMounts[1].mountPath", "must not already exist as a path in volumeDevices"),
			invalid("spec.containers[0].volumeDevices[0].devicePath", "must not already exist as a path in volumeMounts"),
		}},
		{"a restart rule", inContainer("restartPolicy: Never, " + rules), nil},
		{"a resize policy of an init container, refused", inInitContainer(resize), field.ErrorList{
			invalid("spec.initContainers[0].resizePolicy[0].restartPolicy", "must not be set to 'RestartContainer' for non-sidecar initContainers"),
		}},
		{"an address in IPv6's clothes, refused", inSpec(mapped), field.ErrorList{
			invalid("spec.hostAliases[0].ip", "must not be an IPv4-mapped IPv6 address"),
		}},
		{"SELinux by mount option, refused", inSpec(selinux), field.ErrorList{
			notSupported("spec.securityContext.seLinuxChangePolicy", `supported values: "Recursive"`),
		}},
		{"processes shared and of the host", inSpec(processes), field.ErrorList{
			invalid("spec.securityContext.shareProcessNamespace", "ShareProcessNamespace and HostPID cannot both be enabled"),
		}},
		{"certificates are dropped", inVolume(bundle), nil},
	})
	runFor(t, 37, []row{
		{"limits of the Pod from its containers", podResources, nil},
		{"SELinux by mount option", inSpec(selinux), nil},
	})
}

func TestCertificates(t *testing.T) {
	const at = "spec.volumes[0].projected.sources[0]."
	bundle := func(fields string) string {
		return inVolume("projected: {sources: [{clusterTrustBundle: {" + fields + "}}]}")
	}
	certificate := func(fields string) string {
		return inVolume("projected: {sources: [{podCertificate: {" + fields + "}}]}")
	}
	const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	const signer = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
	const bundleName = "must be a name, or a signer's name with a colon for its slash, a colon and a name"
	run(t, []row{
		{name: "a bundle", template: bundle("name: ca, path: ca.pem")},
		{name: "a signer's bundle", template: bundle("name: 'example.com:signer:ca', path: ca.pem")},
		{name: "the bundles of a signer", template: bundle("signerName: example.com/signer, labelSelector: {matchLabels: {a: b}}, path: ca.pem")},
		{name: "neither", template: bundle("path: ca.pem"), want: field.ErrorList{
			required(at+"clusterTrustBundle", "either name or signerName must be specified"),
		}},
		{name: "both", template: bundle("name: ca, signerName: example.com/signer, path: ca.pem"), want: field.ErrorList{
			invalid(at+"clusterTrustBundle", "only one of name and signerName may be used"),
		}},
		{name: "no signer before the colon", template: bundle("name: ':ca', labelSelector: {}, path: ca.pem"), want: field.ErrorList{
			invalid(at+"clusterTrustBundle.name", bundleName),
			invalid(at+"clusterTrustBundle.labelSelector", "labelSelector must be unset if name is specified"),
		}},
		{name: "an empty name", template: bundle("name: '', path: ca.pem"), want: field.ErrorList{
			required(at+"clusterTrustBundle.name", "must be a valid object name"),
			invalid(at+"clusterTrustBundle.name", "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"),
		}},
		{name: "long names", template: certificate("signerName: " + strings.Repeat("a.", 127) + "b/" + strings.Repeat("c.", 158) + "d, keyType: ED25519, keyPath: k, userAnnotations: {a: " + strings.Repeat("x", 262145) + "}"), want: field.ErrorList{
			tooLong(at+"podCertificate.signerName", "may not be more than 253 bytes"),
			tooLong(at+"podCertificate.signerName", "may not be more than 571 bytes"),
			invalid(at+"podCertificate.userAnnotations", "must be a domain-prefixed key (such as \"acme.io/foo\")"),
			tooLong(at+"podCertificate.userAnnotations", "may not be more than 262144 bytes"),
		}},
		{name: "a slash before the colon", template: bundle("name: 'example.com/signer:ca', path: ca.pem"), want: field.ErrorList{
			invalid(at+"clusterTrustBundle.name", bundleName),
		}},
		{name: "no path, twice", template: inVolume("projected: {sources: [{clusterTrustBundle: {name: a}}, {clusterTrustBundle: {name: a}}]}"), want: field.ErrorList{
			required(at+"clusterTrustBundle.path", ""),
			required("spec.volumes[0].projected.sources[1].clusterTrustBundle.path", ""),
			invalid("spec.volumes[0].projected", "conflicting duplicate paths"),
		}},
		{name: "a certificate", template: certificate("signerName: kubernetes.io/kube-apiserver-client-pod, keyType: ED25519, credentialBundlePath: c.pem, maxExpirationSeconds: 86400, userAnnotations: {example.com/a: b}")},
		{name: "nothing", template: certificate(""), want: field.ErrorList{
			required(at+"podCertificate.signerName", ""),
			notSupported(at+"podCertificate.keyType", `supported values: "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"`),
			required(at+"podCertificate", "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"),
		}},
		{name: "no path of a signer", template: certificate("signerName: signer, keyType: ED25519, keyPath: k"), want: field.ErrorList{
			invalid(at+"podCertificate.signerName", signer),
		}},
		{name: "a signer that is no domain", template: certificate("signerName: A/b, keyType: ED25519, keyPath: k"), want: field.ErrorList{
			invalid(at+"podCertificate.signerName", "should be a domain with at least two segments separated by dots"),
			invalid(at+"podCertificate.signerName", label),
		}},
		{name: "lifetimes", template: inVolume("projected: {sources: [{podCertificate: {signerName: kubernetes.io/a, keyType: ED25519, keyPath: k, maxExpirationSeconds: 86401}}, {podCertificate: {signerName: example.com/a, keyType: ED25519, certificateChainPath: c, maxExpirationSeconds: 3599}}]}"), want: field.ErrorList{
			invalid(at+"podCertificate.maxExpirationSeconds", "if provided, maxExpirationSeconds must be <= 86400"),
			invalid("spec.volumes[0].projected.sources[1].podCertificate.maxExpirationSeconds", "if provided, maxExpirationSeconds must be >= 3600"),
		}},
		{name: "one file twice", template: certificate("signerName: example.com/a, keyType: ED25519, keyPath: k, certificateChainPath: k"), want: field.ErrorList{
			invalid("spec.volumes[0].projected", "conflicting duplicate paths"),
		}},
	})
}

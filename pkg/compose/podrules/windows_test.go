package podrules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestWindows(t *testing.T) {
	run(t, []row{
		{"options", `{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {gmsaCredentialSpecName: a, gmsaCredentialSpec: b, runAsUserName: 'NT AUTHORITY\SYSTEM'}}}]}}`, nil},
		{"credentials", `{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {gmsaCredentialSpecName: A, gmsaCredentialSpec: ""}}}]}}`, field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpecName", `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			invalid("spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec", "gmsaCredentialSpec cannot be an empty string"),
		}},
		{"credentials too long", "{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {gmsaCredentialSpec: " + strings.Repeat("l", 65537) + "}}}]}}", field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec", "gmsaCredentialSpec size must be under 64 KiB"),
		}},
		{"user empty", `{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {runAsUserName: ""}}}]}}`, field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName cannot be an empty string"),
		}},
		{"user with a control character", `{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {runAsUserName: "a\tb"}}}]}}`, field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName cannot contain control characters"),
		}},
		{"user with two backslashes", `{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {runAsUserName: 'a\b\c'}}}]}}`, field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName cannot contain more than one backslash"),
		}},
		{"user of a bad domain", `{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {runAsUserName: '.a\'}}}]}}`, field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName's Domain doesn't match the NetBios nor the DNS format"),
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName's User cannot be empty"),
		}},
		{"user of a long domain", "{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {runAsUserName: '" + strings.Repeat("l", 256) + `\u'}}}]}}`, field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName's Domain length must be under 256 characters"),
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName's Domain doesn't match the NetBios nor the DNS format"),
		}},
		{"user of dots", "{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {runAsUserName: '. .'}}}]}}", field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName's User cannot contain only periods or spaces"),
		}},
		{"user with a comma, too long", "{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {runAsUserName: '" + strings.Repeat("l", 104) + ",'}}}]}}", field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", "runAsUserName's User length must not be longer than 104 characters"),
			invalid("spec.containers[0].securityContext.windowsOptions.runAsUserName", `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`),
		}},
		{"options on Linux", "{spec: {os: {name: linux}, securityContext: {windowsOptions: {}}, containers: [{name: a, image: i, securityContext: {windowsOptions: {}}}]}}", field.ErrorList{
			forbidden("spec.securityContext.windowsOptions", "windows options cannot be set for a linux pod"),
			forbidden("spec.containers[0].securityContext.windowsOptions", "windows options cannot be set for a linux pod"),
		}},
		{"Linux on Windows", "{spec: {os: {name: windows}, hostUsers: true, hostPID: true, hostIPC: true, shareProcessNamespace: false, securityContext: {appArmorProfile: {type: Unconfined}, seLinuxOptions: {}, seccompProfile: {type: Unconfined}, fsGroup: 1, fsGroupChangePolicy: Always, sysctls: [{name: vm.a}], runAsUser: 1, runAsGroup: 1, supplementalGroups: [1], supplementalGroupsPolicy: Merge, seLinuxChangePolicy: Recursive}, containers: [{name: a, image: i, securityContext: {appArmorProfile: {type: Unconfined}, seLinuxOptions: {}, seccompProfile: {type: Unconfined}, capabilities: {}, readOnlyRootFilesystem: true, privileged: false, allowPrivilegeEscalation: false, procMount: Default, runAsUser: 1, runAsGroup: 1}}]}}", field.ErrorList{
			forbidden("spec.hostUsers", "cannot be set for a windows pod"),
			forbidden("spec.hostPID", "cannot be set for a windows pod"),
			forbidden("spec.hostIPC", "cannot be set for a windows pod"),
			forbidden("spec.shareProcessNamespace", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.appArmorProfile", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.seLinuxOptions", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.seccompProfile", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.fsGroup", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.fsGroupChangePolicy", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.sysctls", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.runAsUser", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.runAsGroup", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.supplementalGroups", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.supplementalGroupsPolicy", "cannot be set for a windows pod"),
			forbidden("spec.securityContext.seLinuxChangePolicy", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.appArmorProfile", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.seLinuxOptions", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.seccompProfile", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.capabilities", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.readOnlyRootFilesystem", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.privileged", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.allowPrivilegeEscalation", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.procMount", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.runAsUser", "cannot be set for a windows pod"),
			forbidden("spec.containers[0].securityContext.runAsGroup", "cannot be set for a windows pod"),
		}},
		{"process of the node", "{spec: {hostNetwork: true, containers: [{name: a, image: i, securityContext: {windowsOptions: {hostProcess: true}}}]}}", nil},
		{"process of the node against the Pod", "{spec: {hostNetwork: true, securityContext: {windowsOptions: {hostProcess: false}}, containers: [{name: a, image: i, securityContext: {windowsOptions: {hostProcess: true}}}]}}", field.ErrorList{
			invalid("spec.containers[0].securityContext.windowsOptions.hostProcess", "pod hostProcess value must be identical if both are specified, was false"),
		}},
		{"process of the node beside another, off its network", "{spec: {containers: [{name: a, image: i, securityContext: {windowsOptions: {hostProcess: true}}}, {name: b, image: i}]}}", field.ErrorList{
			invalid("spec", "If pod contains any hostProcess containers then all containers must be HostProcess containers"),
			invalid("spec.hostNetwork", "hostNetwork must be true if pod contains any hostProcess containers"),
		}},
		{"process of the node by the Pod", "{spec: {hostNetwork: true, securityContext: {windowsOptions: {hostProcess: true}}, containers: [{name: a, image: i}]}}", nil},
	})
}

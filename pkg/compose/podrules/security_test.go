package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestSecurity(t *testing.T) {
	run(t, []row{
		{"container", inSecurityContext("runAsUser: 0, runAsGroup: 2147483647, procMount: Default, privileged: true, allowPrivilegeEscalation: true"), nil},
		{"numbers", inSecurityContext("runAsUser: -1, runAsGroup: 2147483648"), field.ErrorList{
			invalid("spec.containers[0].securityContext.runAsUser", "must be between 0 and 2147483647, inclusive"),
			invalid("spec.containers[0].securityContext.runAsGroup", "must be between 0 and 2147483647, inclusive"),
		}},
		{"procMount", inSecurityContext("procMount: Half"), field.ErrorList{
			notSupported("spec.containers[0].securityContext.procMount", `supported values: "Default", "Unmasked"`),
		}},
		{"unmasked /proc with the users of the host", inSecurityContext("procMount: Unmasked"), field.ErrorList{
			invalid("spec.containers[0].securityContext.procMount", "`hostUsers` must be false to use `Unmasked`"),
		}},
		{"escalation", inSecurityContext("allowPrivilegeEscalation: false, privileged: true, capabilities: {add: [SYS_ADMIN, CAP_SYS_ADMIN]}"), field.ErrorList{
			invalid("spec.containers[0].securityContext", "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"),
			invalid("spec.containers[0].securityContext", "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"),
		}},
		{"Pod", inSpec(`securityContext: {runAsUser: 1, fsGroup: 2, supplementalGroups: [3], sysctls: [{name: net.core.somaxconn, value: "1"}], fsGroupChangePolicy: Always, supplementalGroupsPolicy: Strict, seLinuxChangePolicy: Recursive, windowsOptions: {}}`), nil},
		{"numbers of the Pod", inSpec("securityContext: {runAsUser: -1, runAsGroup: -1, fsGroup: -1, supplementalGroups: [0, -1]}"), field.ErrorList{
			invalid("spec.securityContext.fsGroup", "must be between 0 and 2147483647, inclusive"),
			invalid("spec.securityContext.runAsUser", "must be between 0 and 2147483647, inclusive"),
			invalid("spec.securityContext.runAsGroup", "must be between 0 and 2147483647, inclusive"),
			invalid("spec.securityContext.supplementalGroups[1]", "must be between 0 and 2147483647, inclusive"),
		}},
		{"policies of the Pod", inSpec("securityContext: {fsGroupChangePolicy: Maybe, supplementalGroupsPolicy: Maybe, seLinuxChangePolicy: Maybe}"), field.ErrorList{
			notSupported("spec.securityContext.fsGroupChangePolicy", `supported values: "Always", "OnRootMismatch"`),
			notSupported("spec.securityContext.supplementalGroupsPolicy", `supported values: "Merge", "Strict"`),
			notSupported("spec.securityContext.seLinuxChangePolicy", `supported values: "MountOption", "Recursive"`),
		}},
		{"sysctls", inSpec(`securityContext: {sysctls: [{name: ""}, {name: A}, {name: vm.a}, {name: vm.a}]}`), field.ErrorList{
			required("spec.securityContext.sysctls[0].name", ""),
			invalid("spec.securityContext.sysctls[1].name", `must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`),
			duplicate("spec.securityContext.sysctls[3].name"),
		}},
		{"sysctls of the host", inSpec("hostNetwork: true, hostIPC: true, securityContext: {sysctls: [{name: net.a}, {name: net/ipv4/eth0.1/x}, {name: kernel.shmmax}, {name: fs.mqueue.a}, {name: vm.a}]}"), field.ErrorList{
			invalid("spec.securityContext.sysctls[0].name", "may not be specified when 'hostNetwork' is true"),
			invalid("spec.securityContext.sysctls[1].name", "may not be specified when 'hostNetwork' is true"),
			invalid("spec.securityContext.sysctls[2].name", "may not be specified when 'hostIPC' is true"),
			invalid("spec.securityContext.sysctls[3].name", "may not be specified when 'hostIPC' is true"),
		}},
		{"processes shared and of the host", inSpec("hostPID: true, shareProcessNamespace: true"), field.ErrorList{
			invalid("spec.shareProcessNamespace", "ShareProcessNamespace and HostPID cannot both be enabled"),
		}},
		{"users of its own", inSpec("hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true"), field.ErrorList{
			forbidden("spec.hostNetwork", "when `hostUsers` is false"),
			forbidden("spec.HostPID", "when `hostUsers` is false"),
			forbidden("spec.HostIPC", "when `hostUsers` is false"),
		}},
		{"users of its own and devices", "{spec: {hostUsers: false, containers: [{name: a, image: i, securityContext: {procMount: Unmasked}, volumeDevices: [{name: c, devicePath: /a}]}], volumes: [{name: c, persistentVolumeClaim: {claimName: c}}]}}", field.ErrorList{
			forbidden("spec.containers[0].volumeDevices", "when `hostUsers` is false"),
		}},
	})
}

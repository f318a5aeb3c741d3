package podrules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
)

const maxSysctlName = 253

var (
	procMounts           = []corev1.ProcMountType{corev1.DefaultProcMount, corev1.UnmaskedProcMount}
	fsGroupPolicies      = []corev1.PodFSGroupChangePolicy{corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch}
	supplementalPolicies = []corev1.SupplementalGroupsPolicy{corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict}
	seLinuxPolicies      = []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive}
	oldSELinuxPolicies   = seLinuxPolicies[1:]

	sysctlName = lazyregexp.New(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)
	// ipcSysctls are the names in the kernel's IPC namespace, besides everything below fs.mqueue.
	ipcSysctls = []string{
		"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
		"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg",
	}
)

func isPrivileged(sc *corev1.SecurityContext) bool {
	return sc != nil && sc.Privileged != nil && *sc.Privileged
}

func (c *checker) containerSecurity(p *field.Path, sc *corev1.SecurityContext) {
	c.userID(p, "runAsUser", sc.RunAsUser)
	c.userID(p, "runAsGroup", sc.RunAsGroup)
	if sc.ProcMount != nil {
		oneOf(c, p, "procMount", *sc.ProcMount, procMounts)
		if c.hostUsers && *sc.ProcMount == corev1.UnmaskedProcMount {
			c.invalid(p.Child("procMount"), *sc.ProcMount, "`hostUsers` must be false to use `Unmasked`")
		}
	}
	c.seccomp(p, sc.SeccompProfile)
	if sc.AllowPrivilegeEscalation != nil && !*sc.AllowPrivilegeEscalation {
		c.escalation(p, sc)
	}
	if sc.WindowsOptions != nil {
		c.windowsOptions(p.Child("windowsOptions"), sc.WindowsOptions)
	}
	c.appArmor(p, sc.AppArmorProfile)
}

// escalation reports what cannot be had without privilege escalation.
func (c *checker) escalation(p *field.Path, sc *corev1.SecurityContext) {
	if isPrivileged(sc) {
		c.invalid(p, true, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
	}
	if sc.Capabilities == nil {
		return
	}
	for _, capability := range sc.Capabilities.Add {
		if capability == "CAP_SYS_ADMIN" {
			c.invalid(p, capability, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
		}
	}
}

// userID checks the number of a user or a group, which have one range.
func (c *checker) userID(p *field.Path, name string, id *int64) {
	if id != nil {
		c.invalidEach(p.Child(name), *id, validation.IsValidUserID(*id))
	}
}

// podSecurity checks the security context of the Pod and the host's namespaces.
func (c *checker) podSecurity(spec *field.Path) {
	if sc := c.spec.SecurityContext; sc != nil {
		p := spec.Child("securityContext")
		c.userID(p, "fsGroup", sc.FSGroup)
		c.userID(p, "runAsUser", sc.RunAsUser)
		c.userID(p, "runAsGroup", sc.RunAsGroup)
		for i, id := range sc.SupplementalGroups {
			c.invalidEach(p.Child("supplementalGroups").Index(i), id, validation.IsValidGroupID(id))
		}
		c.sysctls(p, sc.Sysctls)
		oneOfIfSet(c, p, "fsGroupChangePolicy", sc.FSGroupChangePolicy, fsGroupPolicies)
		c.seccomp(p, sc.SeccompProfile)
		if sc.WindowsOptions != nil {
			c.windowsOptions(p.Child("windowsOptions"), sc.WindowsOptions)
		}
		c.appArmor(p, sc.AppArmorProfile)
		oneOfIfSet(c, p, "supplementalGroupsPolicy", sc.SupplementalGroupsPolicy, supplementalPolicies)
		if c.since(seLinuxMount) {
			oneOfIfSet(c, p, "seLinuxChangePolicy", sc.SELinuxChangePolicy, seLinuxPolicies)
		} else {
			oneOfIfSet(c, p, "seLinuxChangePolicy", sc.SELinuxChangePolicy, oldSELinuxPolicies)
		}
	}
	if share := c.spec.ShareProcessNamespace; share != nil && *share && c.spec.HostPID {
		p := spec.Child("securityContext", "shareProcessNamespace")
		if c.since(plainHostFields) {
			p = spec.Child("shareProcessNamespace")
		}
		c.invalid(p, true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
	if !c.hostUsers {
		c.userNamespace(spec)
	}
}

// userNamespace reports what a Pod with users of its own cannot share with the host. The capitals are
// the server's.
func (c *checker) userNamespace(spec *field.Path) {
	const detail = "when `hostUsers` is false"
	if c.spec.HostNetwork {
		c.forbidden(spec.Child("hostNetwork"), detail)
	}
	if c.spec.HostPID {
		c.forbidden(spec.Child("HostPID"), detail)
	}
	if c.spec.HostIPC {
		c.forbidden(spec.Child("HostIPC"), detail)
	}
	c.eachContainer(spec, func(at place, ctr *corev1.Container) {
		if len(ctr.VolumeDevices) > 0 {
			c.forbidden(at.path().Child("volumeDevices"), detail)
		}
	})
}

func (c *checker) sysctls(sc *field.Path, sysctls []corev1.Sysctl) {
	if len(sysctls) == 0 {
		return
	}
	seen := sets.Set[string]{}
	for i := range sysctls {
		name, p := sysctls[i].Name, sc.Child("sysctls").Index(i)
		switch {
		case name == "":
			c.required(p.Child("name"), "")
		case len(name) > maxSysctlName || !sysctlName().MatchString(name):
			c.invalid(p.Child("name"), name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctlName, sysctlName()))
		case seen.Has(name):
			c.duplicate(p.Child("name"), name)
		}
		seen.Insert(name)
		c.hostSysctl(p, name)
	}
}

// hostSysctl reports a setting of a namespace that the Pod shares with the host.
func (c *checker) hostSysctl(p *field.Path, name string) {
	dotted, _, _ := strings.Cut(dottedSysctl(name), "*")
	switch {
	case c.spec.HostNetwork && strings.HasPrefix(dotted, "net."):
		c.invalid(p.Child("name"), name, "may not be specified when 'hostNetwork' is true")
	case c.spec.HostIPC && (strings.HasPrefix(dotted, "fs.mqueue.") || slices.Contains(ipcSysctls, dotted)):
		c.invalid(p.Child("name"), name, "may not be specified when 'hostIPC' is true")
	}
}

// dottedSysctl returns a name written with slashes (net/ipv4/conf/eth0.1/forwarding) in its form with
// dots (net.ipv4.conf.eth0/1.forwarding). The first separator tells which it is.
func dottedSysctl(name string) string {
	if i := strings.IndexAny(name, "./"); i < 0 || name[i] == '.' {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, name)
}

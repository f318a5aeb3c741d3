package podrules

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
)

const (
	maxCredentialSpecKiB = 64
	maxUserDomain        = 256
	maxUserName          = 104

	notOnWindows = "cannot be set for a windows pod"
	notOnLinux   = "windows options cannot be set for a linux pod"
)

var (
	osNames = []corev1.OSName{corev1.Linux, corev1.Windows}

	controlCharacters = lazyregexp.New(`[[:cntrl:]]+`)
	netBIOSName       = lazyregexp.New(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	dnsDomain         = lazyregexp.New(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
)

func isWindows(spec *corev1.PodSpec) bool {
	return spec.OS != nil && spec.OS.Name == corev1.Windows
}

// operatingSystem checks spec.os, and that nothing is set that belongs to another operating system.
func (c *checker) operatingSystem(spec *field.Path) {
	c.hostProcess(spec)
	switch os := c.spec.OS; {
	case os == nil:
	case os.Name == "":
		c.required(spec.Child("os", "name"), "")
	case os.Name == corev1.Linux:
		c.linuxOnly(spec)
	case os.Name == corev1.Windows:
		c.windowsOnly(spec)
	default:
		oneOf(c, spec, "os", os.Name, osNames)
	}
}

func (c *checker) linuxOnly(spec *field.Path) {
	if sc := c.spec.SecurityContext; sc != nil && sc.WindowsOptions != nil {
		c.forbidden(spec.Child("securityContext", "windowsOptions"), notOnLinux)
	}
	c.eachContainer(spec, func(at place, ctr *corev1.Container) {
		if ctr.SecurityContext != nil && ctr.SecurityContext.WindowsOptions != nil {
			c.forbidden(at.path().Child("securityContext", "windowsOptions"), notOnLinux)
		}
	})
}

// setField is a field by name, and whether it is set.
type setField struct {
	name string
	set  bool
}

func (c *checker) windowsOnly(spec *field.Path) {
	c.unset(spec, []setField{
		{"hostUsers", c.spec.HostUsers != nil},
		{"hostPID", c.spec.HostPID},
		{"hostIPC", c.spec.HostIPC},
		{"shareProcessNamespace", c.spec.ShareProcessNamespace != nil},
	})
	if sc := c.spec.SecurityContext; sc != nil {
		c.unset(spec.Child("securityContext"), []setField{
			{"appArmorProfile", sc.AppArmorProfile != nil},
			{"seLinuxOptions", sc.SELinuxOptions != nil},
			{"seccompProfile", sc.SeccompProfile != nil},
			{"fsGroup", sc.FSGroup != nil},
			{"fsGroupChangePolicy", sc.FSGroupChangePolicy != nil},
			{"sysctls", len(sc.Sysctls) > 0},
			{"runAsUser", sc.RunAsUser != nil},
			{"runAsGroup", sc.RunAsGroup != nil},
			{"supplementalGroups", sc.SupplementalGroups != nil},
			{"supplementalGroupsPolicy", sc.SupplementalGroupsPolicy != nil},
			{"seLinuxChangePolicy", sc.SELinuxChangePolicy != nil},
		})
	}
	c.eachContainer(spec, func(at place, ctr *corev1.Container) {
		if sc := ctr.SecurityContext; sc != nil {
			c.windowsContainer(at.path().Child("securityContext"), sc)
		}
	})
}

func (c *checker) windowsContainer(p *field.Path, sc *corev1.SecurityContext) {
	c.unset(p, []setField{
		{"appArmorProfile", sc.AppArmorProfile != nil},
		{"seLinuxOptions", sc.SELinuxOptions != nil},
		{"seccompProfile", sc.SeccompProfile != nil},
		{"capabilities", sc.Capabilities != nil},
		{"readOnlyRootFilesystem", sc.ReadOnlyRootFilesystem != nil},
		{"privileged", sc.Privileged != nil},
		{"allowPrivilegeEscalation", sc.AllowPrivilegeEscalation != nil},
		{"procMount", sc.ProcMount != nil},
		{"runAsUser", sc.RunAsUser != nil},
		{"runAsGroup", sc.RunAsGroup != nil},
	})
}

func (c *checker) unset(p *field.Path, fields []setField) {
	for _, f := range fields {
		if f.set {
			c.forbidden(p.Child(f.name), notOnWindows)
		}
	}
}

// hostProcess checks Windows containers that are processes of the node: all of a Pod's or none, and on
// the node's network.
func (c *checker) hostProcess(spec *field.Path) {
	var pod *bool
	if sc := c.spec.SecurityContext; sc != nil && sc.WindowsOptions != nil {
		pod = sc.WindowsOptions.HostProcess
	}
	all, onHost := 0, 0
	c.eachContainer(spec, func(at place, ctr *corev1.Container) {
		all++
		own := hostProcessOf(ctr)
		if pod != nil && own != nil && *pod != *own {
			c.invalid(at.path().Child("securityContext", "windowsOptions", "hostProcess"), *own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *pod))
		}
		if own == nil {
			own = pod
		}
		if own != nil && *own {
			onHost++
		}
	})
	if onHost == 0 {
		return
	}
	if onHost != all {
		c.invalid(spec, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers")
	}
	if !c.spec.HostNetwork {
		c.invalid(spec.Child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers")
	}
}

func hostProcessOf(ctr *corev1.Container) *bool {
	if ctr.SecurityContext == nil || ctr.SecurityContext.WindowsOptions == nil {
		return nil
	}
	return ctr.SecurityContext.WindowsOptions.HostProcess
}

func (c *checker) windowsOptions(p *field.Path, o *corev1.WindowsSecurityContextOptions) {
	if o.GMSACredentialSpecName != nil {
		c.dnsSubdomain(p, "gmsaCredentialSpecName", *o.GMSACredentialSpecName)
	}
	if spec := o.GMSACredentialSpec; spec != nil {
		switch {
		case *spec == "":
			c.invalid(p.Child("gmsaCredentialSpec"), *spec, "gmsaCredentialSpec cannot be an empty string")
		case len(*spec) > maxCredentialSpecKiB*1024:
			c.invalid(p.Child("gmsaCredentialSpec"), *spec, fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", maxCredentialSpecKiB))
		}
	}
	if o.RunAsUserName != nil {
		for _, problem := range userNameProblems(*o.RunAsUserName) {
			c.invalid(p.Child("runAsUserName"), *o.RunAsUserName, "runAsUserName"+problem)
		}
	}
}

// userNameProblems returns what is wrong with a Windows user name of the form DOMAIN\USER or USER.
func userNameProblems(name string) []string {
	switch {
	case name == "":
		return []string{" cannot be an empty string"}
	case controlCharacters().MatchString(name):
		return []string{" cannot contain control characters"}
	case strings.Count(name, `\`) > 1:
		return []string{" cannot contain more than one backslash"}
	}
	var problems []string
	domain, user, found := strings.Cut(name, `\`)
	if !found {
		domain, user = "", name
	}
	if len(domain) >= maxUserDomain {
		problems = append(problems, fmt.Sprintf("'s Domain length must be under %d characters", maxUserDomain))
	}
	if found && !netBIOSName().MatchString(domain) && !dnsDomain().MatchString(domain) {
		problems = append(problems, "'s Domain doesn't match the NetBios nor the DNS format")
	}
	if user == "" {
		problems = append(problems, "'s User cannot be empty")
	} else if len(user) > maxUserName {
		problems = append(problems, fmt.Sprintf("'s User length must not be longer than %d characters", maxUserName))
	}
	if user != "" && strings.Trim(user, ". ") == "" {
		problems = append(problems, "'s User cannot contain only periods or spaces")
	}
	if strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`) {
		problems = append(problems, `'s User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return problems
}

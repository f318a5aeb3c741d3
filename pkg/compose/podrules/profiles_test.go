package podrules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestProfiles(t *testing.T) {
	run(t, []row{
		{"seccomp localhost", inSecurityContext("seccompProfile: {type: Localhost, localhostProfile: a/b.json}"), nil},
		{"seccomp without a type", inSecurityContext("seccompProfile: {}"), field.ErrorList{
			required("spec.containers[0].securityContext.seccompProfile.type", "type is required when seccompProfile is set"),
		}},
		{"seccomp of an unknown type", inSecurityContext("seccompProfile: {type: Other}"), field.ErrorList{
			notSupported("spec.containers[0].securityContext.seccompProfile.type", `supported values: "Localhost", "RuntimeDefault", "Unconfined"`),
		}},
		{"seccomp localhost without a profile", inSecurityContext("seccompProfile: {type: Localhost}"), field.ErrorList{
			required("spec.containers[0].securityContext.seccompProfile.localhostProfile", "must be set when seccomp type is Localhost"),
		}},
		{"seccomp localhost outside", inSecurityContext("seccompProfile: {type: Localhost, localhostProfile: /a/../b}"), field.ErrorList{
			invalid("spec.containers[0].securityContext.seccompProfile.localhostProfile", "must be a relative path"),
			invalid("spec.containers[0].securityContext.seccompProfile.localhostProfile", "must not contain '..'"),
		}},
		{"seccomp profile of another type", inSecurityContext("seccompProfile: {type: Unconfined, localhostProfile: a}"), field.ErrorList{
			invalid("spec.containers[0].securityContext.seccompProfile.localhostProfile", "can only be set when seccomp type is Localhost"),
		}},
		{"AppArmor localhost", inSecurityContext("appArmorProfile: {type: Localhost, localhostProfile: p}"), nil},
		{"AppArmor without a type", inSecurityContext("appArmorProfile: {}"), field.ErrorList{
			required("spec.containers[0].securityContext.appArmorProfile.type", "type is required when appArmorProfile is set"),
		}},
		{"AppArmor of an unknown type", inSecurityContext("appArmorProfile: {type: Other}"), field.ErrorList{
			notSupported("spec.containers[0].securityContext.appArmorProfile.type", `supported values: "Localhost", "RuntimeDefault", "Unconfined"`),
		}},
		{"AppArmor localhost without a profile", inSecurityContext("appArmorProfile: {type: Localhost}"), field.ErrorList{
			required("spec.containers[0].securityContext.appArmorProfile.localhostProfile", "must be set when AppArmor type is Localhost"),
		}},
		{"AppArmor localhost padded", inSecurityContext(`appArmorProfile: {type: Localhost, localhostProfile: " p"}`), field.ErrorList{
			invalid("spec.containers[0].securityContext.appArmorProfile.localhostProfile", "must not be padded with whitespace"),
		}},
		{"AppArmor localhost too long", inSecurityContext("appArmorProfile: {type: Localhost, localhostProfile: " + strings.Repeat("l", 4096) + "}"), field.ErrorList{
			tooLong("spec.containers[0].securityContext.appArmorProfile.localhostProfile", "may not be more than 4095 bytes"),
		}},
		{"AppArmor profile of another type", inSecurityContext("appArmorProfile: {type: RuntimeDefault, localhostProfile: p}"), field.ErrorList{
			invalid("spec.containers[0].securityContext.appArmorProfile.localhostProfile", "can only be set when AppArmor type is Localhost"),
		}},
		{"seccomp annotations", inMetadata("annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default, container.seccomp.security.alpha.kubernetes.io/main: localhost/p}"), nil},
		{"seccomp annotations that are no profiles", inMetadata("annotations: {seccomp.security.alpha.kubernetes.io/pod: other, container.seccomp.security.alpha.kubernetes.io/main: localhost//p}"), field.ErrorList{
			invalid("metadata.annotations.container.seccomp.security.alpha.kubernetes.io/main", "must be a relative path"),
			invalid("metadata.annotations.seccomp.security.alpha.kubernetes.io/pod", "must be a valid seccomp profile"),
		}},
		{"AppArmor annotation", inMetadata("annotations: {container.apparmor.security.beta.kubernetes.io/main: unconfined}"), nil},
		{"AppArmor annotation for no container", inMetadata("annotations: {container.apparmor.security.beta.kubernetes.io/other: unconfined}"), field.ErrorList{
			invalid("metadata.annotations[container.apparmor.security.beta.kubernetes.io/other]", "container not found"),
		}},
		{"AppArmor annotation that is no profile", inMetadata("annotations: {container.apparmor.security.beta.kubernetes.io/main: other}"), field.ErrorList{
			invalid("metadata.annotations[container.apparmor.security.beta.kubernetes.io/main]", `invalid AppArmor profile name: "other"`),
		}},
		{"seccomp agrees", "{metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: docker/default, container.seccomp.security.alpha.kubernetes.io/main: localhost/p}}, spec: {containers: [{name: main, image: i, securityContext: {seccompProfile: {type: Localhost, localhostProfile: p}}}], securityContext: {seccompProfile: {type: RuntimeDefault}}}}", nil},
		{"seccomp of another type than the annotation", "{metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default, container.seccomp.security.alpha.kubernetes.io/main: unconfined}}, spec: {containers: [{name: main, image: i, securityContext: {seccompProfile: {type: RuntimeDefault}}}], securityContext: {seccompProfile: {type: Unconfined}}}}", field.ErrorList{
			forbidden("spec.securityContext.seccompProfile.type", "seccomp type in annotation and field must match"),
			forbidden("spec.containers[0].securityContext.seccompProfile.type", "seccomp type in annotation and field must match"),
		}},
		{"seccomp localhost against another type", "{metadata: {annotations: {container.seccomp.security.alpha.kubernetes.io/main: unconfined}}, spec: {containers: [{name: main, image: i, securityContext: {seccompProfile: {type: Localhost, localhostProfile: p}}}]}}", field.ErrorList{
			forbidden("spec.containers[0].securityContext.seccompProfile.type", "seccomp type in annotation and field must match"),
		}},
		{"seccomp localhost against another profile", "{metadata: {annotations: {container.seccomp.security.alpha.kubernetes.io/main: localhost/q}}, spec: {containers: [{name: main, image: i, securityContext: {seccompProfile: {type: Localhost, localhostProfile: p}}}]}}", field.ErrorList{
			forbidden("spec.containers[0].securityContext.seccompProfile.localhostProfile", "seccomp profile in annotation and field must match"),
		}},
		{"AppArmor agrees", "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: runtime/default}}, spec: {containers: [{name: main, image: i, securityContext: {appArmorProfile: {type: RuntimeDefault}}}]}}", nil},
		{"AppArmor of another type than the annotation", "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: runtime/default}}, spec: {containers: [{name: main, image: i, securityContext: {appArmorProfile: {type: Unconfined}}}]}}", field.ErrorList{
			forbidden("spec.containers[0].securityContext.appArmorProfile.type", "apparmor type in annotation and field must match"),
		}},
		{"AppArmor default against unconfined", "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: unconfined}}, spec: {containers: [{name: main, image: i, securityContext: {appArmorProfile: {type: RuntimeDefault}}}]}}", field.ErrorList{
			forbidden("spec.containers[0].securityContext.appArmorProfile.type", "apparmor type in annotation and field must match"),
		}},
		{"AppArmor localhost against another profile", "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: localhost/q}}, spec: {containers: [{name: main, image: i, securityContext: {appArmorProfile: {type: Localhost, localhostProfile: p}}}]}}", field.ErrorList{
			forbidden("spec.containers[0].securityContext.appArmorProfile.localhostProfile", "apparmor profile in annotation and field must match"),
		}},
		{"AppArmor annotation of a container goes before the profile of the Pod", "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: runtime/default}}, spec: {containers: [{name: main, image: i}], securityContext: {appArmorProfile: {type: Unconfined}}}}", nil},
		{"AppArmor annotation without a name meets the profile of the Pod", "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: localhost/}}, spec: {containers: [{name: main, image: i}], securityContext: {appArmorProfile: {type: RuntimeDefault}}}}", field.ErrorList{
			forbidden("spec.containers[0].securityContext.appArmorProfile.type", "apparmor type in annotation and field must match"),
		}},
		{"AppArmor empty annotation meets the profile of the Pod", `{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: ""}}, spec: {containers: [{name: main, image: i}], securityContext: {appArmorProfile: {type: RuntimeDefault}}}}`, field.ErrorList{
			forbidden("spec.containers[0].securityContext.appArmorProfile.type", "apparmor type in annotation and field must match"),
		}},
		{"AppArmor agreement is not asked of Windows", "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/main: unconfined}}, spec: {os: {name: windows}, containers: [{name: main, image: i}]}}", nil},
	})
}

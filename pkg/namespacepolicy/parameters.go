package namespacepolicy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// Parameters are what an operator decides.
type Parameters struct {
	// Namespace is that of the sessions.
	Namespace string
	// Executor is the user name of the executor's identity, as the API server knows it:
	// system:serviceaccount:NAMESPACE:NAME for a service account.
	Executor string
	// Companions are the containers that may be privileged. There is at least one.
	Companions []Companion
}

// Companion is a container that may be privileged.
type Companion struct {
	Name string
	// Image is the one image that it may have, written as in the template, with a SHA-256 digest.
	Image string
}

// String writes a companion as the policy's parameters list it.
func (c Companion) String() string { return c.Name + "=" + c.Image }

// ParseCompanion reads NAME=IMAGE, which Validate judges.
func ParseCompanion(text string) (Companion, error) {
	name, image, ok := strings.Cut(text, "=")
	if !ok {
		return Companion{}, fmt.Errorf("%q is not NAME=IMAGE@sha256:DIGEST", text)
	}
	return Companion{Name: name, Image: image}, nil
}

// Validate returns everything for which the policy cannot be written.
func (p Parameters) Validate() field.ErrorList {
	errs := p.validateNamespace(field.NewPath("namespace"))
	errs = append(errs, p.validateExecutor(field.NewPath("executor"))...)
	at := field.NewPath("companions")
	if len(p.Companions) == 0 {
		errs = append(errs, field.Required(at, "without a companion that may be privileged the baseline level of PodSecurity does"))
	}
	for i, c := range p.Companions {
		errs = append(errs, c.validate(at.Index(i))...)
		if slices.Contains(p.Companions[:i], c) {
			errs = append(errs, field.Duplicate(at.Index(i), c.String()))
		}
	}
	return errs
}

func (p Parameters) validateNamespace(at *field.Path) field.ErrorList {
	if p.Namespace == "" {
		return field.ErrorList{field.Required(at, "the namespace of the sessions")}
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Label(p.Namespace) {
		errs = append(errs, field.Invalid(at, p.Namespace, msg))
	}
	return errs
}

// serviceAccountPrefix starts the user name of every service account (k8s.io/apiserver pkg/authentication/serviceaccount).
const serviceAccountPrefix = "system:serviceaccount:"

func (p Parameters) validateExecutor(at *field.Path) field.ErrorList {
	if p.Executor == "" {
		return field.ErrorList{field.Required(at, "the user name of the executor's identity")}
	}
	if strings.ContainsFunc(p.Executor, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return field.ErrorList{field.Invalid(at, p.Executor, "a user name has nothing that cannot be printed")}
	}
	account, ok := strings.CutPrefix(p.Executor, serviceAccountPrefix)
	if !ok {
		return nil
	}
	namespace, name, _ := strings.Cut(account, ":")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return field.ErrorList{field.Invalid(at, p.Executor, "a service account is "+serviceAccountPrefix+"NAMESPACE:NAME")}
	}
	if namespace == p.Namespace {
		return field.ErrorList{field.Invalid(at, p.Executor,
			"the executor's account may not be in the sessions' namespace: whoever creates a Pod there can run it as that account")}
	}
	return nil
}

func (c Companion) validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Label(c.Name) {
		errs = append(errs, field.Invalid(at, c.Name, "container name: "+msg))
	}
	if c.Name == compose.DefaultMainContainer {
		errs = append(errs, field.Invalid(at, c.Name, "is the agent's own container, which is not to be privileged"))
	}
	if image, ok := compose.ParseImage(c.Image); !ok || !strings.HasPrefix(image.Digest, "sha256:") {
		errs = append(errs, field.Invalid(at, c.Image, "the image needs its digest: NAME@sha256:DIGEST, of 64 hexadecimal digits"))
	}
	return errs
}

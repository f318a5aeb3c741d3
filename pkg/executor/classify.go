package executor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// classify makes an *Error of a client library's one, nil of nil.
func classify(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return ofStatus(status.ErrStatus, err)
	}
	return ofTransport(err)
}

// ofStatus classifies an answer of the API server, or of a proxy before it.
func ofStatus(s metav1.Status, cause error) *Error {
	e := &Error{Message: s.Message, cause: cause}
	e.Reason, e.Subject = byWords(s.Message)
	switch {
	case e.Reason != "":
	case s.Code == http.StatusForbidden:
		e.Reason = forbidden(s)
	default:
		e.Reason = byCode(s)
	}
	if e.Reason == NoNamespace && s.Details != nil {
		e.Subject = s.Details.Name
	}
	if e.Reason == InvalidObject && s.Details != nil {
		for _, c := range s.Details.Causes {
			e.Fields = append(e.Fields, FieldError{Field: c.Field, Message: c.Message})
		}
	}
	return e
}

// words are texts of the API server that say more than the status code. The first group is the subject. They are held
// against real servers of every supported version by test/live.
//
// A text is matched where the server's own part of a message begins: behind it may stand words of a webhook's or policy's
// author, who could imitate any of them.
var words = sync.OnceValue(func() []wording {
	const (
		of       = `^\S+ "[^"]*" is forbidden: ` // pods "x" is forbidden:
		internal = `^Internal error occurred: `
	)
	return []wording{
		// k8s.io/apiserver pkg/admission/plugin/webhook
		{regexp.MustCompile(`^admission webhook "([^"]+)" denied the request`), WebhookDenied},
		{regexp.MustCompile(internal + `failed calling webhook "([^"]+)"`), WebhookUnreachable},
		// k8s.io/apiserver pkg/admission/plugin/policy
		{regexp.MustCompile(`^(?:\S+ "[^"]*" is forbidden: )?ValidatingAdmissionPolicy '([^']+)' with binding`), PolicyDenied},
		{regexp.MustCompile(`^(?:\S+ "[^"]*" is forbidden: )?policy '([^']+)' with binding`), PolicyDenied},
		// k8s.io/pod-security-admission admission
		{regexp.MustCompile(of + `violates PodSecurity "([^"]+)"`), PodSecurity},
		// k8s.io/apiserver pkg/admission/plugin/resourcequota
		{regexp.MustCompile(of + `(?:exceeded|failed) quota: ([^:,]+)[:,]`), QuotaExceeded},
		{regexp.MustCompile(of + `status unknown for quota: ([^,]+),`), QuotaExceeded},
		{regexp.MustCompile(of + `insufficient quota to (?:consume|match)()`), QuotaExceeded},
		// k8s.io/kubernetes plugin/pkg/admission/limitranger
		{regexp.MustCompile(of + `\[?(?:minimum|maximum) \S+ usage per ()`), LimitRange},
		{regexp.MustCompile(of + `\[?\S+ max limit to request ratio per ()`), LimitRange},
		// k8s.io/kubernetes plugin/pkg/admission/{serviceaccount,runtimeclass,priority}
		{regexp.MustCompile(of + `error looking up service account [^/ ]+/([^: ]+): serviceaccounts? "[^"]*" not found`), NoService},
		{regexp.MustCompile(of + `pod rejected: RuntimeClass "([^"]+)" not found`), NoRuntimeClass},
		{regexp.MustCompile(of + `no PriorityClass with name (\S+) was found`), NoPriorityClass},
		// k8s.io/apiserver pkg/registry/generic/registry/store.go
		{regexp.MustCompile(`^object is being deleted: ()`), BeingDeleted},
	}
})

type wording struct {
	pattern *regexp.Regexp
	reason  Reason
}

func byWords(message string) (Reason, string) {
	for _, w := range words() {
		if m := w.pattern.FindStringSubmatch(message); m != nil {
			return w.reason, m[1]
		}
	}
	return "", ""
}

// forbidden tells why a request was refused with 403. Admission says for which object, the authorizer for whom.
func forbidden(s metav1.Status) Reason {
	switch {
	case hasCause(s, corev1.NamespaceTerminatingCause):
		return NamespaceEnding
	case strings.Contains(s.Message, `is forbidden: User "`) || s.Details == nil:
		return Forbidden
	}
	return Denied
}

func hasCause(s metav1.Status, cause metav1.CauseType) bool {
	return apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: s}, cause)
}

// byCode classifies what has no words of its own.
func byCode(s metav1.Status) Reason {
	switch s.Code {
	case http.StatusUnauthorized:
		return Unauthenticated
	case http.StatusNotFound:
		if s.Details != nil && s.Details.Kind == "namespaces" {
			return NoNamespace
		}
		return NotFound
	case http.StatusConflict:
		if s.Reason == metav1.StatusReasonAlreadyExists {
			return AlreadyExists
		}
		return Conflict
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return InvalidObject
	case http.StatusTooManyRequests:
		return Throttled
	}
	if s.Code >= http.StatusInternalServerError {
		return Ambiguous
	}
	return ServerError
}

// ofTransport classifies a failure without an answer.
func ofTransport(err error) *Error {
	e := &Error{Reason: Ambiguous, Message: innermost(err), cause: err}
	switch {
	case errors.Is(err, context.Canceled):
		e.Reason = Interrupted
	case strings.Contains(err.Error(), "getting credentials: "): // k8s.io/client-go plugin/pkg/client/auth/exec
		e.Reason = Unauthenticated
	case neverSent(err):
		e.Reason = Unreachable
	}
	return e
}

// neverSent reports whether a request failed before its first byte could leave: no connection, no handshake.
func neverSent(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect") {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	return strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// innermost returns an error's text without the request's URL, which says nothing new and may hold a proxy's password.
func innermost(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errRequestTimeout.Error()
	}
	return err.Error()
}

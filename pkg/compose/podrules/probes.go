package podrules

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var schemes = []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS}

func (c *checker) probes(ctr *field.Path, container *corev1.Container) {
	if container.LivenessProbe != nil {
		c.onceProbe(ctr.Child("livenessProbe"), container.LivenessProbe)
	}
	if probe := container.ReadinessProbe; probe != nil {
		p := ctr.Child("readinessProbe")
		c.probe(p, probe)
		if probe.TerminationGracePeriodSeconds != nil {
			c.invalid(p.Child("terminationGracePeriodSeconds"), *probe.TerminationGracePeriodSeconds, "must not be set for readinessProbes")
		}
	}
	if container.StartupProbe != nil {
		c.onceProbe(ctr.Child("startupProbe"), container.StartupProbe)
	}
}

// onceProbe checks a probe that one success satisfies. An absent successThreshold is one.
func (c *checker) onceProbe(p *field.Path, probe *corev1.Probe) {
	c.probe(p, probe)
	if probe.SuccessThreshold != 0 && probe.SuccessThreshold != 1 {
		c.invalid(p.Child("successThreshold"), probe.SuccessThreshold, "must be 1")
	}
}

func (c *checker) probe(p *field.Path, probe *corev1.Probe) {
	c.handler(p, handler{exec: probe.Exec, http: probe.HTTPGet, tcp: probe.TCPSocket, grpc: probe.GRPC})
	c.nonNegative(p, "initialDelaySeconds", probe.InitialDelaySeconds)
	c.nonNegative(p, "timeoutSeconds", probe.TimeoutSeconds)
	c.nonNegative(p, "periodSeconds", probe.PeriodSeconds)
	c.nonNegative(p, "successThreshold", probe.SuccessThreshold)
	c.nonNegative(p, "failureThreshold", probe.FailureThreshold)
	if s := probe.TerminationGracePeriodSeconds; s != nil && *s <= 0 {
		c.invalid(p.Child("terminationGracePeriodSeconds"), *s, "must be greater than 0")
	}
}

func (c *checker) nonNegative(p *field.Path, name string, value int32) {
	if value < 0 {
		c.invalid(p.Child(name), value, apivalidation.IsNegativeErrorMsg)
	}
}

// lifecycle checks the hooks. Stop signals are behind a feature gate that is off: the server drops them
// unread.
func (c *checker) lifecycle(ctr *field.Path, l *corev1.Lifecycle) {
	if l == nil {
		return
	}
	if h := l.PostStart; h != nil {
		c.handler(ctr.Child("lifecycle", "postStart"), handler{exec: h.Exec, http: h.HTTPGet, tcp: h.TCPSocket, sleep: h.Sleep})
	}
	if h := l.PreStop; h != nil {
		c.handler(ctr.Child("lifecycle", "preStop"), handler{exec: h.Exec, http: h.HTTPGet, tcp: h.TCPSocket, sleep: h.Sleep})
	}
}

// hasHandlers holds for a lifecycle that is still there once the server has dropped its stop signal.
func hasHandlers(l *corev1.Lifecycle) bool {
	return l != nil && (l.StopSignal == nil || l.PostStart != nil || l.PreStop != nil)
}

// handler is what probes and lifecycle hooks have in common.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func (c *checker) handler(p *field.Path, h handler) {
	kinds := exclusive{c: c, p: p, what: "may not specify more than 1 handler type"}
	if h.exec != nil && kinds.first("exec") && len(h.exec.Command) == 0 {
		c.required(p.Child("exec", "command"), "")
	}
	if h.http != nil && kinds.first("httpGet") {
		c.httpGet(p.Child("httpGet"), h.http)
	}
	if h.tcp != nil && kinds.first("tcpSocket") {
		c.portRef(p.Child("tcpSocket"), h.tcp.Port)
	}
	if h.grpc != nil && kinds.first("grpc") {
		c.portNumber(p.Child("grpc"), "port", h.grpc.Port)
	}
	if h.sleep != nil && kinds.first("sleep") && (h.sleep.Seconds < 0 || h.sleep.Seconds > c.grace) {
		c.invalid(p.Child("sleep"), h.sleep.Seconds,
			fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", c.grace))
	}
	if !kinds.any {
		c.required(p, "must specify a handler type")
	}
}

func (c *checker) httpGet(p *field.Path, get *corev1.HTTPGetAction) {
	c.portRef(p, get.Port)
	if get.Scheme != "" {
		oneOf(c, p, "scheme", get.Scheme, schemes)
	}
	for i := range get.HTTPHeaders {
		if msgs := validation.IsHTTPHeaderName(get.HTTPHeaders[i].Name); len(msgs) > 0 {
			c.invalidEach(p.Child("httpHeaders"), get.HTTPHeaders[i].Name, msgs)
		}
	}
}

// exclusive goes through the fields of a union, of which one may be set.
type exclusive struct {
	c    *checker
	p    *field.Path
	what string
	any  bool
}

// first says whether the named field is the first that is set, and reports it if not.
func (e *exclusive) first(name string) bool {
	if e.any {
		e.c.forbidden(e.p.Child(name), e.what)
		return false
	}
	e.any = true
	return true
}

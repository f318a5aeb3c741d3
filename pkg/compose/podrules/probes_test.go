package podrules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestProbes(t *testing.T) {
	run(t, []row{
		{"probes", inContainer("livenessProbe: {httpGet: {port: 80}}, readinessProbe: {tcpSocket: {port: http}, successThreshold: 3}, startupProbe: {grpc: {port: 1}}"), nil},
		{"no handler", inContainer("livenessProbe: {}"), field.ErrorList{
			required("spec.containers[0].livenessProbe", "must specify a handler type"),
		}},
		{"two handlers", inContainer("livenessProbe: {exec: {command: [a]}, httpGet: {port: 1}, tcpSocket: {port: 1}, grpc: {port: 1}}"), field.ErrorList{
			forbidden("spec.containers[0].livenessProbe.httpGet", "may not specify more than 1 handler type"),
			forbidden("spec.containers[0].livenessProbe.tcpSocket", "may not specify more than 1 handler type"),
			forbidden("spec.containers[0].livenessProbe.grpc", "may not specify more than 1 handler type"),
		}},
		{"handlers without content", inContainer(`livenessProbe: {exec: {}}, readinessProbe: {tcpSocket: {port: ""}}, startupProbe: {grpc: {port: 0}}`), field.ErrorList{
			required("spec.containers[0].livenessProbe.exec.command", ""),
			invalid("spec.containers[0].readinessProbe.tcpSocket.port", "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
			invalid("spec.containers[0].readinessProbe.tcpSocket.port", "must contain at least one letter (a-z)"),
			invalid("spec.containers[0].startupProbe.grpc.port", "must be between 1 and 65535, inclusive"),
		}},
		{"negative numbers", inContainer("livenessProbe: {exec: {command: [a]}, initialDelaySeconds: -1, timeoutSeconds: -1, periodSeconds: -1, successThreshold: -1, failureThreshold: -1, terminationGracePeriodSeconds: 0}"), field.ErrorList{
			invalid("spec.containers[0].livenessProbe.initialDelaySeconds", "must be greater than or equal to 0"),
			invalid("spec.containers[0].livenessProbe.timeoutSeconds", "must be greater than or equal to 0"),
			invalid("spec.containers[0].livenessProbe.periodSeconds", "must be greater than or equal to 0"),
			invalid("spec.containers[0].livenessProbe.successThreshold", "must be greater than or equal to 0"),
			invalid("spec.containers[0].livenessProbe.failureThreshold", "must be greater than or equal to 0"),
			invalid("spec.containers[0].livenessProbe.terminationGracePeriodSeconds", "must be greater than 0"),
			invalid("spec.containers[0].livenessProbe.successThreshold", "must be 1"),
		}},
		{"more than one success", inContainer("livenessProbe: {exec: {command: [a]}, successThreshold: 2}, startupProbe: {exec: {command: [a]}, successThreshold: 2}"), field.ErrorList{
			invalid("spec.containers[0].livenessProbe.successThreshold", "must be 1"),
			invalid("spec.containers[0].startupProbe.successThreshold", "must be 1"),
		}},
		{"grace of a readiness probe", inContainer("readinessProbe: {exec: {command: [a]}, terminationGracePeriodSeconds: 5}"), field.ErrorList{
			invalid("spec.containers[0].readinessProbe.terminationGracePeriodSeconds", "must not be set for readinessProbes"),
		}},
		{"HTTP", inContainer(`livenessProbe: {httpGet: {port: 0, scheme: http, httpHeaders: [{name: "A B"}]}}`), field.ErrorList{
			invalid("spec.containers[0].livenessProbe.httpGet.port", "must be between 1 and 65535, inclusive"),
			notSupported("spec.containers[0].livenessProbe.httpGet.scheme", `supported values: "HTTP", "HTTPS"`),
			invalid("spec.containers[0].livenessProbe.httpGet.httpHeaders", "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"),
		}},
		{"hooks", inContainer("lifecycle: {postStart: {exec: {command: [a]}}, preStop: {sleep: {seconds: 30}}, stopSignal: NONE}"), nil},
		{"bad hooks", inContainer("lifecycle: {postStart: {}, preStop: {sleep: {seconds: 31}, tcpSocket: {port: 1}}}"), field.ErrorList{
			required("spec.containers[0].lifecycle.postStart", "must specify a handler type"),
			forbidden("spec.containers[0].lifecycle.preStop.sleep", "may not specify more than 1 handler type"),
		}},
		{"sleep longer than the grace period", inContainer("lifecycle: {preStop: {sleep: {seconds: 31}}}"), field.ErrorList{
			invalid("spec.containers[0].lifecycle.preStop.sleep", "must be non-negative and less than terminationGracePeriodSeconds (30)"),
		}},
	})
}

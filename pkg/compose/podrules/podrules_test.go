package podrules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// typical is a Pod with an agent and a companion.
const typical = `
metadata:
  labels: {app: agent, example.com/team: a}
  annotations: {example.com/note: some text}
spec:
  nodeSelector: {disk: ssd}
  tolerations: [{key: dedicated, operator: Equal, value: agents, effect: NoSchedule}]
  securityContext: {runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: kandev-agent
    image: registry.example.com/agent:1.2
    env:
    - {name: MODE, value: fast}
    - {name: LEVEL, value: debug}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: TOKEN, valueFrom: {secretKeyRef: {name: token, key: value}}}
    ports: [{name: http, containerPort: 8080}]
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: "1", memory: 128Mi}}
    readinessProbe: {httpGet: {path: /ready, port: http}}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: scratch, mountPath: /tmp}, {name: config, mountPath: /etc/app, readOnly: true}]
  - name: docker-engine
    image: docker:28-dind
    env: [{name: DOCKER_TLS_CERTDIR, value: ""}]
    resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {memory: 2Gi}}
    livenessProbe: {exec: {command: [docker, info]}, periodSeconds: 10}
    securityContext: {privileged: true}
    volumeMounts: [{name: scratch, mountPath: /tmp}, {name: kandev-workspace, mountPath: /workspace}]
  volumes:
  - {name: scratch, emptyDir: {sizeLimit: 1Gi}}
  - {name: config, configMap: {name: app, items: [{key: a, path: a/b}]}}
`

var typicalOptions = Options{KnownVolumes: []string{"kandev-runtime", "kandev-auth", "kandev-workspace"}}

func TestTypical(t *testing.T) {
	if errs := Validate(decode(t, typical), field.NewPath("template"), typicalOptions); len(errs) > 0 {
		t.Error(errs)
	}
}

func BenchmarkValidate(b *testing.B) {
	template := decode(b, typical)
	b.ReportAllocs()
	for b.Loop() {
		if errs := Validate(template, field.NewPath("template"), typicalOptions); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func TestAnnotationsTooLarge(t *testing.T) {
	const limit = 256 * 1024
	template := decode(t, inMetadata(""))
	template.Annotations = map[string]string{
		"a": strings.Repeat("x", limit-1),
		// The server drops this one before it counts.
		"pod.beta.kubernetes.io/init-containers": "x",
	}
	if errs := Validate(template, nil, Options{}); len(errs) > 0 {
		t.Error(errs)
	}
	template.Annotations["a"] += "x"
	errs := Validate(template, field.NewPath("template"), Options{})
	if want := "template.metadata.annotations: Too long: may not be more than 262144 bytes"; len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got %v, want %s", errs, want)
	}
}

// TestOrder demands one order of errors, whatever the order of the maps.
func TestOrder(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{NodeSelector: map[string]string{}, Containers: []corev1.Container{{Name: "a", Image: "i"}}},
	}
	for _, s := range []string{"a/", "b/", "c/", "d/", "e/"} {
		template.Labels[s], template.Annotations[s], template.Spec.NodeSelector[s] = " ", "", s
		template.Annotations["container.seccomp.security.alpha.kubernetes.io/"+s] = ""
	}
	want := Validate(template, field.NewPath("template"), Options{}).ToAggregate().Error()
	for range 20 {
		if diff := cmp.Diff(want, Validate(template, field.NewPath("template"), Options{}).ToAggregate().Error()); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestNames holds the byte loops against the regular expressions that they stand for.
func TestNames(t *testing.T) {
	parts := []string{
		"", "a", "A", "0", "-", ".", "_", "/", " ", "é", "a-b", "a.b", "a..b", "-a", "a-", "a.-b", "a/b", "a/b/c", "A.b_C",
		strings.Repeat("x", 62), strings.Repeat("x", 63), strings.Repeat("x", 253),
	}
	for _, a := range parts {
		for _, b := range parts {
			for _, s := range []string{a + b, a + "." + b, a + "/" + b, a + "\n"} {
				for _, f := range []struct {
					name string
					got  bool
					want []string
				}{
					{"label", isDNSLabel(s), validation.IsDNS1123Label(s)},
					{"subdomain", isDNSSubdomain(s), validation.IsDNS1123Subdomain(s)},
					{"qualified name", isQualifiedName(s), validation.IsQualifiedName(s)},
					{"label value", isLabelValue(s), validation.IsValidLabelValue(s)},
				} {
					if f.got != (len(f.want) == 0) {
						t.Errorf("%s %q: %v, but %v", f.name, s, f.got, f.want)
					}
				}
			}
		}
	}
}

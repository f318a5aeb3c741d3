package live

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kandev/kandev-podlint/test/live/webhook"
)

// refusals is the part of diff's JSON that says why an object was refused.
type refusals struct {
	Compatible bool     `json:"compatible"`
	Warnings   []string `json:"warnings"`
	Refusals   []struct {
		Object, Reason, Subject, Message, Remedy string
		Fields                                   []struct{ Field, Message string }
	} `json:"refusals"`
}

// TestRefusals has a real API server refuse objects for every reason that it can, and demands that each is told apart.
func TestRefusals(t *testing.T) {
	c := api(t)
	client := clientset(t, c)
	hooks := webhook.Serve(t)
	for name, test := range map[string]struct {
		labels          map[string]string
		arrange         func(t *testing.T, namespace string)
		spec            string // more of the template
		bare            bool   // without resources
		reason, subject string
		said            string // a part of the server's own words
	}{
		"pod security": {
			labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
			reason: "pod-security", subject: "restricted:latest", said: "allowPrivilegeEscalation != false",
		},
		"quota": {
			arrange: func(t *testing.T, ns string) {
				quota(t, client, ns, corev1.ResourceList{"pods": resource.MustParse("0")})
			},
			reason: "quota", subject: "small", said: "exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0",
		},
		"quota that wants a limit": {
			arrange: func(t *testing.T, ns string) {
				quota(t, client, ns, corev1.ResourceList{"limits.cpu": resource.MustParse("4")})
			},
			reason: "quota", subject: "small", said: "must specify limits.cpu for: kandev-agent", bare: true,
		},
		"limit range": {
			arrange: func(t *testing.T, ns string) { limitRange(t, client, ns) },
			reason:  "limit-range", said: "maximum cpu usage per Container is 100m, but limit is 500m",
		},
		"service account": {
			spec:   "    serviceAccountName: nobody\n",
			reason: "service-account", subject: "nobody", said: `serviceaccount "nobody" not found`,
		},
		"runtime class": {
			spec:   "    runtimeClassName: kata\n",
			reason: "runtime-class", subject: "kata", said: `RuntimeClass "kata" not found`,
		},
		"priority class": {
			spec:   "    priorityClassName: urgent\n",
			reason: "priority-class", subject: "urgent", said: "no PriorityClass with name urgent was found",
		},
		"webhook": {
			arrange: func(t *testing.T, ns string) {
				hooks.Validating(t, client, ns, "deny.example.com", func(*admissionv1.ValidatingWebhook) {}, webhook.Deny("images come from registry.example only"))
			},
			reason: "webhook-denied", subject: "deny.example.com", said: "images come from registry.example only",
		},
		"webhook that imitates": {
			arrange: func(t *testing.T, ns string) {
				hooks.Validating(t, client, ns, "imitate.example.com", func(*admissionv1.ValidatingWebhook) {},
					webhook.Deny(`pods "x" is forbidden: violates PodSecurity "restricted:latest": is forbidden: User "x"`))
			},
			reason: "webhook-denied", subject: "imitate.example.com", said: "violates PodSecurity",
		},
		"admission policy": {
			arrange: func(t *testing.T, ns string) { policy(t, client, ns) },
			reason:  "admission-policy", said: "no Pod here",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t, c, test.labels)
			if test.arrange != nil {
				test.arrange(t, ns)
			}
			file := template(t, test.spec)
			if test.bare {
				file = write(t, "bare.yaml", bareTemplate)
			}
			args := []string{"diff", "--live", "--workspace-mode", "empty_dir", "-n", ns, file}
			r := run(t, c.Kubeconfig(), append(args, "--format", "json")...)
			var got refusals
			if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 1 {
				t.Fatalf("%v\n%s", err, r)
			}
			if got.Compatible || len(got.Refusals) != 1 || got.Refusals[0].Reason != test.reason || got.Refusals[0].Object != "Pod" ||
				test.subject != "" && got.Refusals[0].Subject != test.subject || !strings.Contains(got.Refusals[0].Message, test.said) || got.Refusals[0].Remedy == "" {
				t.Errorf("%s", r)
			}
			text := run(t, c.Kubeconfig(), args...)
			if text.code != 1 || !strings.Contains(text.out, "refused:") || !strings.Contains(text.out, "["+test.reason+"]") {
				t.Errorf("%s", text)
			}
		})
	}
}

func quota(t *testing.T, client kubernetes.Interface, ns string, hard corev1.ResourceList) {
	t.Helper()
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	q, err := client.CoreV1().ResourceQuotas(ns).Create(t.Context(), q, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// What the quota controller does, which is not part of an API server.
	q.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{}}
	for name := range hard {
		q.Status.Used[name] = resource.MustParse("0")
	}
	if _, err := client.CoreV1().ResourceQuotas(ns).UpdateStatus(t.Context(), q, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func limitRange(t *testing.T, client kubernetes.Interface, ns string) {
	t.Helper()
	_, err := client.CoreV1().LimitRanges(ns).Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "narrow"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// policy makes a ValidatingAdmissionPolicy that refuses the Pods of a namespace, and waits until it does.
func policy(t *testing.T, client kubernetes.Interface, ns string) {
	t.Helper()
	name := ns + ".example.com"
	all := &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}}},
	}
	_, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: new(admissionv1.Fail), MatchConstraints: all,
			Validations: []admissionv1.Validation{{Expression: "false", Message: "no Pod here"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		_ = client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{})
		_ = client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{})
	})
	webhook.Await(t, client, ns, func(err error) bool { return err != nil && strings.Contains(fmt.Sprint(err), "no Pod here") })
}

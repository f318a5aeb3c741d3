package admission_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kandev/kandev-podlint/internal/differential"
	"github.com/kandev/kandev-podlint/pkg/compose/podrules"
)

// TestVersions sends templates that were changed at random to an API server of every version and demands that podrules,
// told of that version, reports the same types of error at the same fields. It makes ADMISSION_ROUNDS of them from
// ADMISSION_SEED.
func TestVersions(t *testing.T) {
	seeds, err := differential.Seeds()
	if err != nil {
		t.Fatal(err)
	}
	rounds, first := number(t, "ADMISSION_ROUNDS", 1000), number(t, "ADMISSION_SEED", 1_000_000)
	work := make([]string, rounds)
	for i := range work {
		work[i] = strconv.Itoa(first + i)
	}
	for _, minor := range versions(t) {
		t.Run(minor, func(t *testing.T) {
			// What these plugins refuse is the cluster's to know.
			s, err := startServer(t, minor, "--disable-admission-plugins=ServiceAccount,Priority,RuntimeClass")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.close(); err != nil {
					t.Error(err)
				}
			})
			var mu sync.Mutex
			refused := 0
			eachAtOnce(work, func(seed string) {
				if s.agree(t, seeds, seed) {
					return
				}
				mu.Lock()
				refused++
				mu.Unlock()
			})
			t.Logf("%s: %d templates, %d of them refused", s.Version(), rounds, refused)
		})
	}
}

// agree compares the two verdicts on one template and reports whether the server takes it.
func (s *server) agree(t *testing.T, seeds []*corev1.PodTemplateSpec, seed string) (taken bool) {
	t.Helper()
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		t.Error(err)
		return false
	}
	m := differential.NewMutator(n)
	template := differential.Pick(m, seeds).DeepCopy()
	m.Mutate(template)
	body, err := json.Marshal(template)
	if err == nil {
		template = &corev1.PodTemplateSpec{} // empty lists are not sent
		err = json.Unmarshal(body, template)
	}
	if err != nil {
		t.Error(err)
		return false
	}
	server, err := s.errorsOf(t, template)
	if err != nil {
		t.Errorf("seed %s: no verdict: %v", seed, err)
		return false
	}
	ours := podrules.Validate(template, nil, podrules.Options{Minor: s.minorNumber()})
	if s.minor == "1.34" { // where volumes and mounts that the server drops move the others
		ours, server = withoutPlaces(ours), withoutPlaces(server)
	}
	if differences := differential.Differences(ours, server); len(differences) > 0 || (len(ours) == 0) != (len(server) == 0) {
		t.Errorf("ADMISSION_SEED=%s:\n  %s\n  podrules: %v\n  server: %v", seed, strings.Join(differences, "\n  "), ours, server)
	}
	return len(server) == 0
}

// errorsOf returns what the API server finds wrong in a template's Pod. It ignores unknown fields, which TestFields is
// about.
func (s *server) errorsOf(t *testing.T, template *corev1.PodTemplateSpec) (field.ErrorList, error) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "version", Labels: template.Labels, Annotations: template.Annotations},
		Spec:       template.Spec,
	}
	if pod.Spec.ServiceAccountName == "" && pod.Spec.DeprecatedServiceAccount == "" {
		pod.Spec.ServiceAccountName = "default" // as the ServiceAccount plugin does
	}
	body, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	err = s.client.CoreV1().RESTClient().Post().Namespace(metav1.NamespaceDefault).Resource("pods").
		Param("dryRun", metav1.DryRunAll).Param("fieldValidation", metav1.FieldValidationIgnore).
		SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()).Error()
	if err == nil {
		return nil, nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return nil, err
	}
	var out field.ErrorList
	for _, cause := range status.Status().Details.Causes {
		out = append(out, &field.Error{Type: field.ErrorType(cause.Type), Field: cause.Field, Detail: cause.Message})
	}
	return out, nil
}

var volumeIndex = regexp.MustCompile(`(olumes|olumeMounts)\[\d+\]`)

func withoutPlaces(errs field.ErrorList) field.ErrorList {
	out := make(field.ErrorList, len(errs))
	for i, e := range errs {
		e := *e
		e.Field = volumeIndex.ReplaceAllString(e.Field, "$1[]")
		out[i] = &e
	}
	return out
}

// minorNumber is 36 for 1.36.
func (s *server) minorNumber() int {
	var n int
	if _, err := fmt.Sscanf(s.minor, "1.%d", &n); err != nil {
		panic(err) // cluster.Versions has nothing else
	}
	return n
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

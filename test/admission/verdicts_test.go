package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// disagreements are the specs on which the linter and the API server of a version differ, each with its reason.
var disagreements = map[string]map[string]string{}

// TestVerdicts sends the specs of the corpus to an API server of every version and demands that the linter, told of
// that version, finds an error at a field that the server names where it refuses, and none of the API server's or the
// document's where it accepts.
func TestVerdicts(t *testing.T) {
	dir := os.Getenv("KANDEV_PODLINT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "adapted", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Skipf("no corpus of Pod specs at %s", dir)
	}
	for _, minor := range versions(t) {
		t.Run(minor, func(t *testing.T) {
			// What these two plugins refuse is the cluster's to know: accounts and classes that do not exist.
			s, err := startServer(t, minor, "--disable-admission-plugins=ServiceAccount,Priority")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.close(); err != nil {
					t.Error(err)
				}
			})
			s.demandVerdicts(t, files)
		})
	}
}

func (s *server) demandVerdicts(t *testing.T, files []string) {
	t.Helper()
	l := lint.New(lint.Options{WithoutPolicies: true, KubeVersion: s.minor})
	var mu sync.Mutex
	counts := map[string]int{}
	eachAtOnce(files, func(file string) {
		name := filepath.Base(file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			return
		}
		refusal, fields := s.verdict(t, name, data)
		results, err := l.Bytes(t.Context(), name, data, true)
		if err != nil || len(results) != 1 {
			t.Errorf("%s: %d results, error %v", name, len(results), err)
			return
		}
		errs := errorsOf(results[0])
		agree := !slices.ContainsFunc(errs, isServerError)
		kind := "accepted"
		if refusal != "" {
			kind, agree = "refused", namesOneOf(errs, fields)
		}
		mu.Lock()
		counts[kind]++
		mu.Unlock()
		if reason, known := disagreements[s.minor][name]; agree == known {
			t.Errorf("%s: %s %s\nthe linter says %v\nknown disagreement: %q", name, kind, refusal, errs, reason)
		}
	})
	t.Logf("%s: %v, known disagreements: %v", s.Version(), counts, slices.Sorted(maps.Keys(disagreements[s.minor])))
}

// eachAtOnce calls f for every item, some of them at the same time.
func eachAtOnce(items []string, f func(string)) {
	work := make(chan string)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for item := range work {
				f(item)
			}
		})
	}
	for _, item := range items {
		work <- item
	}
	close(work)
	workers.Wait()
}

// verdict sends a template's Pod as a dry run with strict field validation. It returns the text of the refusal, "" where
// there is none, and the fields that it names.
func (s *server) verdict(t *testing.T, name string, data []byte) (refusal string, fields []string) {
	t.Helper()
	var document struct {
		Template struct {
			Metadata map[string]any `json:"metadata"`
			Spec     map[string]any `json:"spec"`
		} `json:"template"`
	}
	if err := yaml.Unmarshal(data, &document); err != nil {
		t.Errorf("%s: %v", name, err)
		return "", nil
	}
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": document.Template.Metadata, "spec": document.Template.Spec}
	if document.Template.Metadata == nil {
		pod["metadata"] = map[string]any{}
	}
	pod["metadata"].(map[string]any)["name"] = "verdict" //nolint:forcetypeassert // set above
	if spec := document.Template.Spec; spec != nil && spec["serviceAccountName"] == nil {
		spec["serviceAccountName"] = "default" // as the ServiceAccount plugin does
	}
	body, err := json.Marshal(pod)
	if err != nil {
		t.Error(err)
		return "", nil
	}
	err = s.client.CoreV1().RESTClient().Post().Namespace(metav1.NamespaceDefault).Resource("pods").
		Param("dryRun", metav1.DryRunAll).Param("fieldValidation", metav1.FieldValidationStrict).
		SetHeader("Content-Type", "application/json").Body(body).Do(context.Background()).Error()
	if err == nil {
		return "", nil
	}
	return err.Error(), refusedFields(t, name, err)
}

var (
	unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)
	structField  = regexp.MustCompile(`Go struct field [A-Za-z]+\.(\S+) of type`)
)

func refusedFields(t *testing.T, name string, err error) []string {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Errorf("%s: no verdict: %v", name, err)
		return nil
	}
	var fields []string
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	for _, pattern := range []*regexp.Regexp{unknownField, structField} {
		for _, m := range pattern.FindAllStringSubmatch(err.Error(), -1) {
			fields = append(fields, m[1])
		}
	}
	return fields
}

func errorsOf(r lint.FileResult) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool { return f.Severity != finding.Error })
}

// isServerError holds for a finding that claims that the API server would refuse the document.
func isServerError(f finding.Finding) bool {
	return f.Source == finding.API || f.Source == finding.Document
}

// namesOneOf reports whether an error stands at a field that the server names, or at its parent or child. The server
// leaves indices out in places.
func namesOneOf(errs []finding.Finding, fields []string) bool {
	return slices.ContainsFunc(errs, func(f finding.Finding) bool {
		path := strings.TrimPrefix(f.Path, "template.")
		return len(fields) == 0 || slices.ContainsFunc(fields, func(field string) bool {
			return related(path, field) || related(index.ReplaceAllString(path, ""), index.ReplaceAllString(field, ""))
		})
	})
}

var index = regexp.MustCompile(`\[\d+\]`)

func related(a, b string) bool { return within(a, b) || within(b, a) }

func within(path, around string) bool {
	rest, ok := strings.CutPrefix(path, around)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

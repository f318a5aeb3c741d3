package oracle

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/internal/differential"
	"github.com/kandev/kandev-podlint/pkg/compose/podrules"
)

// minor is that of the code of Kubernetes in go.mod.
const minor = 36

// corpusDir holds real Pod specs and what a real kube-apiserver said to them.
func corpusDir() string {
	if dir := os.Getenv("KANDEV_PODLINT_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared", "corpus")
}

// recorded is one line of oracle.tsv.
type recorded struct {
	file     string
	accepted bool
	// fields are those that the server named; none where it could not decode the document.
	fields []string
}

func readRecorded(t *testing.T) []recorded {
	t.Helper()
	f, err := os.Open(filepath.Join(corpusDir(), "oracle.tsv"))
	if os.IsNotExist(err) {
		t.Skipf("no corpus at %s (set KANDEV_PODLINT_CORPUS)", corpusDir())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		columns := strings.SplitN(lines.Text(), "\t", 3)
		r := recorded{file: columns[0], accepted: columns[1] == "accept"}
		var causes [][]string
		if json.Unmarshal([]byte(columns[2]), &causes) == nil {
			for _, cause := range causes {
				r.fields = append(r.fields, cause[0])
			}
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// readTemplate decodes as the server does without strict validation.
func readTemplate(path string) (*corev1.PodTemplateSpec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc corev1.PodTemplate
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	return &doc.Template, nil
}

// ours returns the errors of podrules at paths of a Pod.
func ours(t *corev1.PodTemplateSpec) field.ErrorList {
	errs := podrules.Validate(t, field.NewPath("template"), podrules.Options{Minor: minor})
	for _, e := range errs {
		e.Field = strings.TrimPrefix(e.Field, "template.")
	}
	return errs
}

// TestCorpus holds podrules against the recorded verdicts of a real server, and against the code of
// Kubernetes, field by field.
func TestCorpus(t *testing.T) {
	var accepted, rejected, undecodable, found int
	for _, r := range readRecorded(t) {
		if !r.accepted && len(r.fields) == 0 {
			undecodable++
			continue
		}
		template, err := readTemplate(filepath.Join(corpusDir(), "adapted", r.file))
		if err != nil {
			t.Errorf("%s: %v", r.file, err)
			continue
		}
		errs := ours(template)
		if r.accepted {
			accepted++
			if len(errs) > 0 {
				t.Errorf("%s: accepted by the server, but %v", r.file, errs)
			}
		} else {
			rejected++
			if namesField(errs, r.fields) {
				found++
			} else {
				t.Errorf("%s: the server rejects %v, podrules says %v", r.file, r.fields, errs)
			}
		}
		compare(t, r.file, template)
	}
	t.Logf("%d accepted by the server, none flagged unless reported; %d rejected, %d of them found at a field it names; %d more not decoded by it, which strict decoding has to find",
		accepted, rejected, found, undecodable)
}

// TestRaw holds podrules against the code of Kubernetes on the specs as they were found.
func TestRaw(t *testing.T) {
	readRecorded(t)
	files, err := filepath.Glob(filepath.Join(corpusDir(), "raw", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		template, err := readTemplate(file)
		if err != nil {
			continue
		}
		// podrules leaves these to others.
		template.Spec.EphemeralContainers = nil
		compare(t, filepath.Base(file), template)
		compared++
	}
	t.Logf("%d specs compared, %d could not be decoded", compared, len(files)-compared)
}

// namesField says whether every error is at a field that the server names, and every such field has one.
func namesField(errs field.ErrorList, fields []string) bool {
	for _, f := range fields {
		covered := false
		for _, e := range errs {
			covered = covered || differential.Related(e.Field, f)
		}
		if !covered {
			return false
		}
	}
	for _, e := range errs {
		named := false
		for _, f := range fields {
			named = named || differential.Related(e.Field, f)
		}
		if !named {
			return false
		}
	}
	return true
}

// compare reports differences between podrules and the code of Kubernetes.
func compare(t *testing.T, name string, template *corev1.PodTemplateSpec) bool {
	t.Helper()
	server, err := Validate(template)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return false
	}
	mine := ours(template)
	differences := differential.Differences(mine, server)
	if len(differences) == 0 && (len(mine) == 0) == (len(server) == 0) {
		return true
	}
	t.Errorf("%s:\n  %s\n  podrules: %v\n  server: %v", name, strings.Join(differences, "\n  "), mine, server)
	return false
}

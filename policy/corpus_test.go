package policy

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// corpusDir is where real Pod specs are to be found, if there are any.
func corpusDir() string {
	return cmp.Or(os.Getenv("KANDEV_PODLINT_CORPUS"), filepath.Join("..", "..", "shared", "corpus"))
}

// TestCorpus counts the findings of each rule over real Pod specs, prints the table with -v, and holds the rules to
// their severity: one that fires on more than half of the specs must be an info. The corpus is a folder of PodTemplates,
// raw/*.yaml below $KANDEV_PODLINT_CORPUS or beside this repository; without one the test is skipped.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpusDir(), "raw", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Skip("no corpus: set KANDEV_PODLINT_CORPUS")
	}
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type count struct{ findings, templates int }
	counts := map[string]count{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var in Input
		if err := yaml.Unmarshal(source, &in.Object); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		findings, err := e.Eval(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		fired := map[string]bool{}
		for _, f := range findings {
			c := counts[f.Rule]
			c.findings++
			if !fired[f.Rule] {
				c.templates++
			}
			counts[f.Rule], fired[f.Rule] = c, true
		}
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RULE\tSEVERITY\tFINDINGS\tTEMPLATES\tSHARE") //nolint:errcheck // Flush returns it
	for _, rule := range Catalogue() {
		c := counts[rule.Name]
		share := 100 * float64(c.templates) / float64(len(files))
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.1f %%\n", rule.Name, rule.Severity, c.findings, c.templates, share) //nolint:errcheck // likewise
		if share > 50 && rule.Severity != finding.Info {
			t.Errorf("%s is a %s and fires on %.1f %% of %d templates", rule.Name, rule.Severity, share, len(files))
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d templates\n%s", len(files), table.String())
}

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

// mayFireOften are the rules that are warnings although most public specs break them; their pages say why.
var mayFireOften = map[string]bool{"agent-not-confined": true}

// TestCorpus counts the findings of each rule over real Pod specs, prints the tables with -v, and holds the rules to
// their severity: one that fires on more than half of the specs must be an info. The corpus is a folder of PodTemplates,
// raw/*.yaml as they were found and adapted/*.yaml with the first container as the agent, below $KANDEV_PODLINT_CORPUS
// or beside this repository; without one the test is skipped.
func TestCorpus(t *testing.T) {
	for _, part := range []string{"raw", "adapted"} {
		t.Run(part, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(corpusDir(), part, "*.yaml"))
			if err != nil || len(files) == 0 {
				t.Skip("no corpus: set KANDEV_PODLINT_CORPUS")
			}
			counts := countFindings(t, files)
			var table strings.Builder
			w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "RULE\tSEVERITY\tFINDINGS\tTEMPLATES\tSHARE") //nolint:errcheck // Flush returns it
			for _, rule := range Catalogue() {
				c := counts[rule.Name]
				share := 100 * float64(c.templates) / float64(len(files))
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.1f %%\n", rule.Name, rule.Severity, c.findings, c.templates, share) //nolint:errcheck // likewise
				if share > 50 && rule.Severity != finding.Info && !mayFireOften[rule.Name] {
					t.Errorf("%s is a %s and fires on %.1f %% of %d templates", rule.Name, rule.Severity, share, len(files))
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d templates\n%s", len(files), table.String())
		})
	}
}

// findingCount is how often a rule fired, and in how many files.
type findingCount struct{ findings, templates int }

// countFindings evaluates files as sessions on a managed claim and counts by rule.
func countFindings(t *testing.T, files []string) map[string]findingCount {
	t.Helper()
	e, err := Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]findingCount{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in := Input{WorkspaceMode: "managed_pvc"}
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
	return counts
}

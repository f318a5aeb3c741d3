package docstest

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kandev/kandev-podlint/"

// layers orders the parts of the product: a part imports only parts of later lines.
var layers = [][]string{
	{"cmd/kandev-podlint"},
	{"internal/cli"},
	{"internal/report"},
	{"pkg/lint", "pkg/executor"},
	{"pkg/admission", "pkg/namespacepolicy", "policy"},
	{"pkg/compose"},
}

// goList returns a line for each package of a pattern.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// partOf returns the part that a package of the product belongs to, "" for any other package.
func partOf(pkg string) string {
	path, ok := strings.CutPrefix(pkg, module)
	if !ok {
		return ""
	}
	for _, parts := range layers {
		for _, part := range parts {
			if path == part || strings.HasPrefix(path, part+"/") {
				return part
			}
		}
	}
	return ""
}

// imports returns which part imports which, by the packages' own files.
func imports(t *testing.T) map[[2]string]bool {
	t.Helper()
	arrows := map[[2]string]bool{}
	for _, line := range goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./cmd/...", "./internal/...", "./pkg/...", "./policy/...") {
		pkg, list, _ := strings.Cut(line, " ")
		from := partOf(pkg)
		for imported := range strings.FieldsSeq(list) {
			if to := partOf(imported); from != "" && to != "" && from != to {
				arrows[[2]string{from, to}] = true
			}
		}
	}
	return arrows
}

// TestArrows demands that no package imports one above it or beside it.
func TestArrows(t *testing.T) {
	layer := map[string]int{}
	for i, parts := range layers {
		for _, part := range parts {
			layer[part] = i
		}
	}
	for arrow := range imports(t) {
		if layer[arrow[0]] >= layer[arrow[1]] {
			t.Errorf("%s imports %s, which is not below it", arrow[0], arrow[1])
		}
	}
}

// TestLightImports demands that a backend pays only for what it uses: composing and comparing Pods needs neither a client nor OPA.
func TestLightImports(t *testing.T) {
	for _, pkg := range goList(t, "-deps", "./pkg/compose/...", "./pkg/admission/...") {
		for _, heavy := range []string{"k8s.io/client-go", "github.com/open-policy-agent/", module + "policy"} {
			if strings.HasPrefix(pkg, heavy) {
				t.Errorf("pkg/compose or pkg/admission imports %s", pkg)
			}
		}
	}
}

// TestDiagram holds the diagram of the architecture against the imports.
func TestDiagram(t *testing.T) {
	const page = "docs/architecture.md"
	diagrams := 0
	text := rewriteBlocks(t, read(t, page), func(b block) string {
		if b.info != "mermaid" {
			return b.text
		}
		diagrams++
		return diagram(imports(t))
	})
	if diagrams != 1 {
		t.Errorf("%s has %d diagrams, not one", page, diagrams)
	}
	same(t, page, []byte(text))
}

// TestPackages demands that the table of the architecture names each package once, those of drivers and schemas in the row of
// the package above them.
func TestPackages(t *testing.T) {
	rows := map[string]int{}
	for line := range strings.Lines(read(t, "docs/architecture.md")) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| `") {
			for name := range strings.SplitSeq(cell, ", ") {
				rows[strings.Trim(name, "`")]++
			}
		}
	}
	for _, pkg := range goList(t, "./...") {
		path := strings.TrimPrefix(pkg, module)
		if n := rows[path]; n > 1 || n == 0 && rows[filepath.Dir(path)] == 0 {
			t.Errorf("docs/architecture.md names %s %d times", path, n)
		}
	}
}

// TestDrivers demands that a database driver comes only with the package that opens that database, so that no other program
// starts slower for it.
func TestDrivers(t *testing.T) {
	const opens = module + "pkg/executor/inventory/sqlinventory/"
	for _, line := range goList(t, "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./cmd/...", "./internal/...", "./pkg/...", "./policy/...") {
		pkg, deps, _ := strings.Cut(line, " ")
		for driver, opener := range map[string]string{"modernc.org/sqlite": opens + "sqlite", "github.com/jackc/pgx/v5": opens + "postgres"} {
			list := append(strings.Fields(deps), pkg)
			if slices.Contains(list, driver) && !slices.Contains(list, opener) && pkg != module+"internal/postgrestest" {
				t.Errorf("%s imports %s without %s", pkg, driver, opener)
			}
		}
	}
	for _, dep := range goList(t, "-deps", "./pkg/compose/...", "./pkg/admission/...", "./pkg/lint/...", "./policy/...") {
		if dep == "database/sql" {
			t.Errorf("pkg/compose, pkg/admission, pkg/lint or policy imports %s", dep)
		}
	}
}

// diagram draws the arrows in mermaid.
func diagram(arrows map[[2]string]bool) string {
	var b strings.Builder
	b.WriteString("graph TD\n")
	sorted := slices.SortedFunc(maps.Keys(arrows), func(x, y [2]string) int {
		return slices.Compare(x[:], y[:])
	})
	for _, a := range sorted {
		b.WriteString("    " + mermaidNode(a[0]) + " --> " + mermaidNode(a[1]) + "\n")
	}
	return b.String()
}

// mermaidNode names a part without the characters that mean something to mermaid.
func mermaidNode(part string) string {
	return strings.NewReplacer("/", "_", "-", "_").Replace(part) + `["` + part + `"]`
}

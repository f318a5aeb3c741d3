package docstest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/pkg/executor/inventory"
)

const inventoryPage = "docs/inventory.md"

// TestStates holds the picture of the states against the state machine.
func TestStates(t *testing.T) {
	pictures := 0
	text := rewriteBlocks(t, read(t, inventoryPage), func(b block) string {
		if b.info != "mermaid" {
			return b.text
		}
		pictures++
		return stateDiagram()
	})
	if pictures != 1 {
		t.Errorf("%s has %d pictures, not one", inventoryPage, pictures)
	}
	same(t, inventoryPage, []byte(text))
}

// stateDiagram draws the states in mermaid, which takes no hyphen in a name.
func stateDiagram() string {
	name := func(s inventory.State) string { return strings.ReplaceAll(string(s), "-", "_") }
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> " + name(inventory.Configured) + "\n")
	for _, from := range inventory.States() {
		for _, to := range from.Next() {
			b.WriteString("    " + name(from) + " --> " + name(to) + "\n")
		}
		if len(from.Next()) == 0 {
			b.WriteString("    " + name(from) + " --> [*]\n")
		}
	}
	return b.String()
}

// TestInventoryColumns demands that the page describes every column of the schemas, and no other.
func TestInventoryColumns(t *testing.T) {
	_, table, _ := strings.Cut(read(t, inventoryPage), "\n| column | holds |\n")
	described := names(`(?m)^\| ((?:[a-z_0-9]+(?:, )?)+) \|`, table)
	for _, database := range []string{"sqlite", "postgres"} {
		schema := read(t, "pkg/executor/inventory/sqlinventory/"+database+"/schema/1.sql")
		rows, _, _ := strings.Cut(schema, ";\n\n")
		if diff := cmp.Diff(names(`(?m)^    ([a-z_0-9]+) +(?:TEXT|INTEGER|BIGINT)`, rows), described); diff != "" {
			t.Errorf("%s: -schema +page\n%s", database, diff)
		}
	}
}

// names returns, sorted, the names that a pattern finds, several being separated by commas.
func names(pattern, text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Split(m[1], ", ")...)
	}
	slices.Sort(out)
	return out
}

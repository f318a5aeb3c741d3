package docstest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows the links inside the repository.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("docs/rules/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(files, pages(t)...) {
		for _, m := range link.FindAllStringSubmatch(prose(t, read(t, page)), -1) {
			if !strings.Contains(m[1], "://") {
				follow(t, page, m[1])
			}
		}
	}
}

// prose returns a page without its blocks.
func prose(t *testing.T, text string) string {
	t.Helper()
	return rewriteBlocks(t, text, func(block) string { return "" })
}

func follow(t *testing.T, page, target string) {
	t.Helper()
	path, anchor, _ := strings.Cut(target, "#")
	file := page
	if path != "" {
		file = filepath.Join(filepath.Dir(page), path)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("%s: the link %s leads nowhere: %v", page, target, err)
		return
	}
	if anchor == "" {
		return
	}
	for _, m := range heading.FindAllStringSubmatch(prose(t, read(t, file)), -1) {
		slug := notSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return
		}
	}
	t.Errorf("%s: %s has no heading for #%s", page, file, anchor)
}

// TestFirstCommands holds the first block of the README: two commands, of which one lints and one runs the tests as CI does.
func TestFirstCommands(t *testing.T) {
	var first []string
	eachBlock(t, read(t, "README.md"), func(b block) {
		if first == nil {
			first = strings.Split(strings.TrimSpace(b.text), "\n")
		}
	})
	if len(first) != 2 {
		t.Fatalf("the README opens with %q, not with two commands", first)
	}
	args, ok := command("$ " + strings.TrimSpace(strings.Split(first[0], "#")[0]))
	if !ok {
		t.Fatalf("%q is no command of this program", first[0])
	}
	output := run(t, args)
	if !strings.Contains(output, "| ") || !strings.Contains(output, "^~~") || !strings.HasSuffix(output, "# exit 1\n") {
		t.Errorf("%s: no source lines with carets, or another exit status than 1:\n%s", first[0], output)
	}
	if test := strings.TrimSpace(strings.Split(first[1], "#")[0]); test != "make test" {
		t.Errorf("the second command is %q, not make test", test)
	}
	if !strings.Contains(read(t, "Makefile"), "\ntest:\n") || !strings.HasSuffix(read(t, ".ci/run"), "exec make test\n") {
		t.Error("make test is not what .ci/run runs, or there is no such target")
	}
}

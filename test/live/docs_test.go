package live

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kandev/kandev-podlint/test/cluster"
)

var update = flag.Bool("update", false, "rewrite what the pages show of a cluster")

var (
	clusterBlock = regexp.MustCompile("(?ms)^```console cluster\n(.*?)^```$") //nolint:gocritic // with m the second ^ is the start of a line
	address      = regexp.MustCompile(`https://127\.0\.0\.1:\d+`)
	took         = regexp.MustCompile(` \(\d+\.\d s\)`)
	probeName    = regexp.MustCompile(`kandev-[0-9a-f]{16}`)
)

// steady puts words in place of what is another at every run.
func steady(text string) string {
	text = address.ReplaceAllString(text, "https://cluster.example:6443")
	text = took.ReplaceAllString(text, "")
	return probeName.ReplaceAllString(text, "kandev-0123456789abcdef")
}

// replayPages runs the commands of the pages' console blocks that need a cluster and demands that they print what the pages show.
func replayPages(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		got := clusterBlock.ReplaceAllStringFunc(string(text), func(block string) string {
			blocks++
			line, _, _ := strings.Cut(strings.TrimPrefix(block, "```console cluster\n"), "\n")
			args, ok := strings.CutPrefix(line, "$ kandev-podlint ")
			if !ok {
				t.Fatalf("%s: %q is no command", page, line)
			}
			cmd := command(t, c.Kubeconfig(), strings.Fields(args)...)
			cmd.Dir = root
			r := finish(t, cmd)
			out := "```console cluster\n" + line + "\n" + steady(r.out+r.err)
			if r.code != 0 {
				out += "# exit " + string(rune('0'+r.code)) + "\n"
			}
			return out + "```"
		})
		if *update {
			if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(text), got); diff != "" {
			t.Errorf("%s, which go test -C test/live -run Pages -update rewrites:\n%s", page, diff)
		}
	}
	if blocks == 0 {
		t.Error("the pages have no block that needs a cluster")
	}
}

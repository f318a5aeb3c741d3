package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// visit lists what walking yields: the path, "!" where it was named, and why it cannot be read.
func visit(paths ...string) []string {
	var out []string
	walk(paths, func(s source) bool {
		text := filepath.ToSlash(s.path)
		if s.named {
			text += " !"
		}
		if s.err != nil {
			text += " " + s.err.Error()
		}
		out = append(out, text)
		return true
	})
	return out
}

func TestWalk(t *testing.T) {
	dir := write(t, map[string]string{
		"a/x.yaml": "", "a/y.YML": "", "a/z.json": "", "a/README.md": "", "a/.git/config.yaml": "", "a/.hidden/h.yaml": "",
		"a-b/x.yaml": "", "a.yaml": "", "[odd].yaml": "", "b/deep/er/x.yaml": "", "-dash.yaml": "", "with space\nand line.yaml": "",
	})
	t.Chdir(dir)
	for link, target := range map[string]string{"a/loop": "..", "a/self.yaml": "self.yaml", "a/gone.yaml": "nowhere", "a/link.yaml": "x.yaml", "dir.yaml": "b"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	inA := []string{
		"a/.hidden/h.yaml", "a/gone.yaml no such file or directory", "a/link.yaml", "a/self.yaml too many levels of symbolic links",
		"a/x.yaml", "a/y.YML", "a/z.json",
	}
	for _, c := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"directory", []string{"a"}, inA},
		{"as given", []string{"./b/"}, []string{"./b/deep/er/x.yaml"}},
		{
			"order is that of the paths below",
			[]string{"a.yaml", "a-b", "b", "a"},
			append(append([]string{"a-b/x.yaml", "a.yaml !"}, inA...), "b/deep/er/x.yaml"),
		},
		{"everything once", []string{"a-b", "a-b/x.yaml", "./a-b/x.yaml", "a-b/../a-b", filepath.Join(dir, "a-b")}, []string{"./a-b/x.yaml !"}},
		{"a directory within a named one", []string{"b/deep", "b"}, []string{"b/deep/er/x.yaml"}},
		{"named in a directory", []string{"a", filepath.Join(dir, "a", "z.json"), "a/README.md"}, nil},
		{"the parent", []string{"b/..", "b"}, nil},
		{"named link to a directory", []string{"dir.yaml"}, []string{"dir.yaml/deep/er/x.yaml"}},
		{"glob", []string{"*/x.yaml"}, []string{"a-b/x.yaml", "a/x.yaml"}},
		{"glob below", []string{"b/**/*.yaml"}, []string{"b/deep/er/x.yaml"}},
		{"glob of directories", []string{"a?b"}, []string{"a-b/x.yaml"}},
		{"glob and name", []string{"a-b/*", "a-b/x.yaml"}, []string{"a-b/x.yaml !"}},
		{"glob leaves out what is no template by name", []string{"a/*.{md,json}"}, []string{"a/z.json"}},
		{"a name that looks like a glob", []string{"[odd].yaml"}, []string{"[odd].yaml !"}},
		{"no match", []string{"*.nope"}, []string{"*.nope ! no file matches this glob"}},
		{"no glob", []string{"a/[z"}, []string{"a/[z ! not a glob: syntax error in pattern"}},
		{"missing", []string{"nowhere", "nowhere"}, []string{"nowhere ! no such file or directory"}},
		{"device", []string{os.DevNull}, []string{os.DevNull + " ! a device, not a file"}},
		{"standard input", []string{"-", "b", "-"}, []string{"- !", "b/deep/er/x.yaml"}},
		{"odd names", []string{"-dash.yaml", "with space\nand line.yaml"}, []string{"-dash.yaml !", "with space\nand line.yaml !"}},
	} {
		if c.want == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, visit(c.paths...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, twice := range [][]string{{"a", filepath.Join(dir, "a", "z.json"), "a/README.md"}, {"b/..", "b", "."}, {".", dir}} {
		seen := map[string]int{}
		walk(twice, func(s source) bool { seen[absolute(s.path)]++; return true })
		for path, n := range seen {
			if n != 1 {
				t.Errorf("%v: %s visited %d times", twice, path, n)
			}
		}
	}
	if got := visit("."); got[0] != "-dash.yaml" || len(got) != 13 {
		t.Errorf("the working directory is not written out: %q", got)
	}
}

func TestWalkStops(t *testing.T) {
	dir := write(t, map[string]string{"a/1.yaml": "", "a/2.yaml": "", "b/1.yaml": ""})
	for stop := 1; stop <= 3; stop++ {
		n := 0
		walk([]string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}, func(source) bool { n++; return n < stop })
		if n != stop {
			t.Errorf("visited %d after %d", n, stop)
		}
	}
}

// Directories are read whole, in parts, and sorted.
func TestWalkManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 3000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := visit(dir)
	if len(got) != 3000 {
		t.Fatalf("%d files", len(got))
	}
	for i := range got[1:] {
		if got[i] >= got[i+1] {
			t.Fatalf("%s before %s", got[i], got[i+1])
		}
	}
}

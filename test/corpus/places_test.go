package corpus

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
	"github.com/kandev/kandev-podlint/pkg/lint"
)

// TestPlaces lints every spec as it was found and looks up the place of every finding in the file: there
// must stand the key, or the first key or the value of the list item, that the finding's path names, or
// its nearest parent that the file holds. The file is decoded here without the linter's own reader.
func TestPlaces(t *testing.T) {
	l := lint.New(lint.Options{})
	files, checked := 0, 0
	for _, file := range specs(t, "raw") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files++
		var object any
		decoded := yaml.Unmarshal(data, &object) == nil
		for _, f := range lintFile(t, l, filepath.Base(file), data).Findings {
			checked++
			checkFinding(t, f, strings.Split(string(data), "\n"), object, decoded)
		}
	}
	t.Logf("files: %d, findings whose place was looked up: %d", files, checked)
}

func checkFinding(t *testing.T, f finding.Finding, lines []string, object any, decoded bool) {
	t.Helper()
	where := f.File + ":" + strconv.Itoa(f.Line) + ":" + strconv.Itoa(f.Column) + ": " + f.Path + " [" + f.Rule + "]"
	if f.Message == "" || f.Remediation == "" || f.Docs == "" || f.Fingerprint == "" {
		t.Errorf("%s: message, remediation, docs or fingerprint is empty", where)
	}
	if f.Line < 1 || f.Line > len(lines) || f.EndLine < f.Line || f.EndLine == f.Line && f.EndColumn <= f.Column {
		t.Errorf("%s: no such place, or it ends (%d:%d) before it starts", where, f.EndLine, f.EndColumn)
		return
	}
	if !decoded || f.Path == "" {
		return
	}
	line := []rune(lines[f.Line-1])
	if f.Column < 1 || f.Column > len(line) {
		t.Errorf("%s: the line has %d characters", where, len(line))
		return
	}
	text := string(line[f.Column-1:])
	want := textsAt(f.Path, object)
	for _, w := range want {
		for _, quote := range []string{"", `"`, "'"} {
			if strings.HasPrefix(text, quote+w+quote) {
				return
			}
		}
	}
	t.Errorf("%s: the text there is %q, want one of %q", where, text, want)
}

// textsAt lists what may stand at the place of a path: the last key on it that the object holds, or for a
// list item one of its own keys, its value, or the bracket that opens it.
func textsAt(path string, object any) []string {
	texts := []string{"apiVersion", "kind", "metadata", "template"}
	for path != "" {
		var ok bool
		switch at := object.(type) {
		case map[string]any:
			var key string
			if key, path, ok = longestKey(at, path); ok {
				object, texts = at[key], []string{key}
			}
		case []any:
			var i int
			if i, path, ok = itemIndex(path, len(at)); ok {
				object = at[i]
				texts = itemTexts(object)
			}
		}
		if !ok {
			break
		}
	}
	return texts
}

func longestKey(m map[string]any, path string) (key, rest string, ok bool) {
	bracket := strings.HasPrefix(path, "[")
	trimmed := strings.TrimPrefix(strings.TrimPrefix(path, "."), "[")
	for k := range m {
		tail, found := strings.CutPrefix(trimmed, k)
		if bracket && found {
			tail, found = strings.CutPrefix(tail, "]")
		}
		if found && (tail == "" || tail[0] == '.' || tail[0] == '[') && len(k) >= len(key) {
			key, rest, ok = k, tail, true
		}
	}
	return key, rest, ok
}

func itemIndex(path string, length int) (i int, rest string, ok bool) {
	inside, rest, found := strings.Cut(strings.TrimPrefix(path, "["), "]")
	i, err := strconv.Atoi(inside)
	return i, rest, found && err == nil && i < length
}

func itemTexts(item any) []string {
	switch item := item.(type) {
	case map[string]any:
		texts := []string{"{"}
		for k := range item {
			texts = append(texts, k)
		}
		return texts
	case string:
		return []string{strings.SplitN(item, "\n", 2)[0], "|", ">"}
	case []any:
		return []string{"[", "-"}
	}
	return []string{""}
}

package lint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// fingerprints gives every finding of one template that has none yet a fingerprint that stays when lines
// or list positions move: rule and path, list items named rather than counted, and a number where both
// repeat.
func fingerprints(fs []finding.Finding, object map[string]any) {
	type keyed struct {
		key string
		f   *finding.Finding
	}
	all := make([]keyed, 0, len(fs))
	for i := range fs {
		if fs[i].Fingerprint == "" {
			all = append(all, keyed{fs[i].Rule + "\x00" + namedPath(fs[i].Path, object), &fs[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.f.Message, b.f.Message))
	})
	repeated := 0
	for i, k := range all {
		if repeated++; i == 0 || all[i-1].key != k.key {
			repeated = 0
		}
		sum := sha256.Sum256([]byte(k.key + "\x00" + strconv.Itoa(repeated)))
		k.f.Fingerprint = hex.EncodeToString(sum[:16])
	}
}

// namedPath replaces each index of a path by what identifies the item that it selects, where something does.
func namedPath(path string, object map[string]any) string {
	var out strings.Builder
	var at any = object
	for path != "" {
		step := nextStep(path)
		path = path[len(step):]
		at, step = follow(at, step)
		out.WriteString(step)
	}
	return out.String()
}

// nextStep returns the first step of a path: ".name", "name" or "[...]".
func nextStep(path string) string {
	if path[0] == '[' {
		if end := strings.IndexByte(path, ']'); end >= 0 {
			return path[:end+1]
		}
		return path
	}
	if end := strings.IndexAny(path[1:], ".["); end >= 0 {
		return path[:end+1]
	}
	return path
}

// follow takes one step into a value and returns what is there and how to write the step.
func follow(at any, step string) (any, string) {
	name := strings.Trim(step, ".[]")
	switch at := at.(type) {
	case map[string]any:
		return at[name], step
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(at) {
			return nil, step
		}
		if id := identity(at[i]); id != "" {
			return at[i], "[" + id + "]"
		}
		return at[i], step
	}
	return nil, step
}

// identifying are the fields by which Kubernetes tells the items of its lists apart, those of mounts first:
// a volume may be mounted twice.
var identifying = []string{"mountPath", "devicePath", "name", "containerPort", "key", "topologyKey", "ip"}

// identity is what tells a list item from its siblings, "" where only its place does.
func identity(item any) string {
	switch item := item.(type) {
	case string:
		return item
	case map[string]any:
		for _, field := range identifying {
			switch value := item[field].(type) {
			case string:
				return field + "=" + value
			case json.Number:
				return field + "=" + value.String()
			}
		}
	}
	return ""
}

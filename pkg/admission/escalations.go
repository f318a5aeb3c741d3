package admission

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kandev/kandev-podlint/pkg/compose/finding"
)

// escalations returns the policy findings that the admitted Pod has and the requested one had not, with the
// names of list items in their paths instead of positions.
func escalations(requested, admitted *corev1.Pod, warnings func(*corev1.Pod) ([]finding.Finding, error)) ([]finding.Finding, error) {
	if warnings == nil {
		return nil, nil
	}
	had, err := namedWarnings(requested, warnings)
	if err != nil {
		return nil, fmt.Errorf("policy findings of the requested Pod: %w", err)
	}
	has, err := namedWarnings(admitted, warnings)
	if err != nil {
		return nil, fmt.Errorf("policy findings of the admitted Pod: %w", err)
	}
	known := map[string]int{}
	for _, w := range had {
		known[w.key]++
	}
	var out []finding.Finding
	for _, w := range has {
		if known[w.key] > 0 {
			known[w.key]--
			continue
		}
		out = append(out, w.Finding)
	}
	finding.Sort(out)
	return out, nil
}

// namedWarning is a policy finding and what tells it from others.
type namedWarning struct {
	finding.Finding

	key string
}

func namedWarnings(p *corev1.Pod, warnings func(*corev1.Pod) ([]finding.Finding, error)) ([]namedWarning, error) {
	if p == nil {
		p = &corev1.Pod{}
	}
	found, err := warnings(p)
	if err != nil {
		return nil, err
	}
	out := make([]namedWarning, len(found))
	for i, f := range found {
		path, value := namedPath(p, f.Path)
		f.Path = path
		out[i] = namedWarning{f, strings.Join([]string{f.Rule, f.Container, path, value}, "\x00")}
	}
	return out, nil
}

// namedPath replaces the positions in a field path of a Pod by the items' names, and returns the value there when it
// is a scalar: a hostPath that was /data and is / is another one. A path that leads nowhere stays as it is.
func namedPath(p *corev1.Pod, path string) (named, value string) {
	path = strings.TrimPrefix(path, "template.")
	at := reflect.ValueOf(p).Elem()
	var b strings.Builder
	for _, token := range pathTokens(path) {
		next, name := step(at, token)
		b.WriteString(name)
		at = next
	}
	at = indirect(at)
	switch at.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		value = showValue(at.Interface())
	}
	return strings.TrimPrefix(b.String(), "."), value
}

// pathTokens splits a.b[0].c into .a .b [0] .c; dots within brackets belong to a key.
func pathTokens(path string) []string {
	var out []string
	for path != "" {
		end := len(path)
		if path[0] == '[' {
			if i := strings.IndexByte(path, ']'); i >= 0 {
				end = i + 1
			}
		} else if i := strings.IndexAny(path[1:], ".["); i >= 0 {
			end = i + 1
		}
		token := path[:end]
		if token[0] != '.' && token[0] != '[' {
			token = "." + token
		}
		out = append(out, token)
		path = path[end:]
	}
	return out
}

// step follows one token of a path. It returns an invalid value where the path leads nowhere.
func step(at reflect.Value, token string) (next reflect.Value, name string) {
	at = indirect(at)
	if token[0] == '.' {
		if at.Kind() != reflect.Struct {
			return reflect.Value{}, token
		}
		return fieldNamed(at, token[1:]), token
	}
	key := strings.Trim(token, "[]")
	switch at.Kind() {
	case reflect.Map:
		return at.MapIndex(reflect.ValueOf(key).Convert(at.Type().Key())), token
	case reflect.Slice:
		return item(at, key, token)
	}
	return reflect.Value{}, token
}

// item finds an item of a list by its position or its name.
func item(list reflect.Value, key, token string) (reflect.Value, string) {
	names := make([]string, list.Len())
	if list.Type().Elem().Kind() == reflect.Struct {
		names = itemNames(list)
	} else {
		copy(names, texts(list))
	}
	i, err := strconv.Atoi(key)
	if err != nil {
		i = slices.Index(names, key)
	}
	if i < 0 || i >= list.Len() {
		return reflect.Value{}, token
	}
	return list.Index(i), "[" + names[i] + "]"
}

// fieldNamed finds a field of an API type by its JSON name, in embedded structs too.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	for _, f := range fieldsOf(v.Type()) {
		if f.name == name {
			return v.Field(f.index)
		}
		if f.name == "" {
			if found := fieldNamed(v.Field(f.index), name); found.IsValid() {
				return found
			}
		}
	}
	return reflect.Value{}
}

package policy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// defaultMainContainer is the agent's container where nobody says otherwise.
const defaultMainContainer = "kandev-agent"

// newestMinor stands for the Kubernetes version where none is asked for: above every one that a rule tells apart.
const newestMinor = 1000

// addReview adds to the session what every rule wants to know of a document: one reading of its Pod. lib/review.rego
// describes it, and does the same for unit tests and for other programs; a test holds the two against each other.
func addReview(session, document map[string]any, mainContainer, kubeVersion string) error {
	prefix, pod := "", document
	if template, ok := document["template"].(map[string]any); ok {
		prefix, pod = "template.", template
	}
	spec, minor := objectAt(pod, "spec"), minorOf(kubeVersion)
	path := prefix + "spec"
	session["path"] = path
	session["metadataPath"] = prefix + "metadata"
	session["spec"] = spec
	session["annotations"] = objectAt(objectAt(pod, "metadata"), "annotations")
	volumes := byName(spec["volumes"])
	session["volumes"] = volumes
	session["minor"] = minor
	session["windows"] = objectAt(spec, "os")["name"] == "windows" && minor >= 25
	session["contained"] = spec["hostUsers"] == false && minor >= 35

	r := newReader(mainContainer, path, spec, volumes)
	for _, list := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
		containers, _ := spec[list].([]any)
		for index, fields := range containers {
			if fields, ok := fields.(map[string]any); ok {
				r.read(path+"."+list+"["+strconv.Itoa(index)+"]", fields)
			}
		}
	}
	return r.tell(session)
}

// commandLine is what a container's command and args say, with the variables replaced that they name, as the kubelet does.
func commandLine(fields map[string]any) string {
	var words []string
	for _, list := range [...]string{"command", "args"} {
		items, _ := fields[list].([]any)
		for _, item := range items {
			if word, ok := item.(string); ok {
				words = append(words, word)
			}
		}
	}
	line := strings.Join(words, " ")
	if !strings.Contains(line, "$(") && !strings.Contains(line, "$$") {
		return line
	}
	var replaced []string // by the first that fits, and the last of two equal names counts
	variables, _ := fields["env"].([]any)
	for _, variable := range slices.Backward(variables) {
		variable, _ := variable.(map[string]any)
		name, isName := variable["name"].(string)
		value, isValue := variable["value"].(string)
		if isName && isValue {
			replaced = append(replaced, "$("+name+")", value)
		}
	}
	return strings.NewReplacer(append(replaced, "$$", "$")...).Replace(line)
}

// byName are the objects of a list by their names.
func byName(list any) map[string]any {
	objects := map[string]any{}
	items, _ := list.([]any)
	for _, item := range items {
		item, _ := item.(map[string]any)
		if name, ok := item["name"].(string); ok {
			objects[name] = item
		}
	}
	return objects
}

// contextPath is the nearest place that exists for a field missing from a security context.
func contextPath(path string, fields map[string]any) string {
	if _, ok := fields["securityContext"].(map[string]any); ok {
		return path + ".securityContext"
	}
	return path
}

// objectAt is the object under a key, an empty one where there is none.
func objectAt(fields map[string]any, key string) map[string]any {
	object, _ := fields[key].(map[string]any)
	return object
}

// keys are those of the reading as terms, made once.
var keys = func() map[string]*ast.Term {
	keys := map[string]*ast.Term{}
	for key := range strings.FieldsSeq(`path name subject contextPath privileged root nonRoot lacks commandLine
		unlimited companion capability
		container root line hosts host socketMount group groupShared data dataMount volume kind bounded`) {
		keys[key] = ast.StringTerm(key)
	}
	return keys
}()

func field(key string, value *ast.Term) [2]*ast.Term {
	return [2]*ast.Term{keys[key], value}
}

func pair(key, value string) [2]*ast.Term { return field(key, ast.StringTerm(value)) }

// is reports whether a value of a document is of a type.
func is[T any](value any) bool {
	_, ok := value.(T)
	return ok
}

// numberOf is a number of a document.
func numberOf(value any) (number float64, ok bool) {
	switch v := value.(type) {
	case json.Number:
		number, err := v.Float64()
		return number, err == nil
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	return 0, false
}

// minorOf is the minor version of a Kubernetes version, such as 36 of 1.36 and of v1.36.3.
func minorOf(version string) int {
	_, minor, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	number, err := strconv.ParseUint(minor, 10, 16)
	if err != nil {
		return newestMinor
	}
	return int(number)
}

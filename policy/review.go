package policy

import (
	"fmt"
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
	session["volumes"] = byName(spec["volumes"])
	session["minor"] = minor
	session["windows"] = objectAt(spec, "os")["name"] == "windows" && minor >= 25
	session["contained"] = spec["hostUsers"] == false && minor >= 35

	context, err := ast.InterfaceToValue(objectAt(spec, "securityContext"))
	if err != nil {
		return fmt.Errorf("convert the Pod's security context for its policies: %w", err)
	}
	r := reader{mainContainer: mainContainer, ofPod: context.(ast.Object), specs: map[string]any{}}
	r.scopes = append(r.scopes, ast.ObjectTerm(
		pair("path", path),
		pair("name", ""),
		pair("subject", "the Pod"),
		field("context", ast.NewTerm(context)),
		pair("contextPath", contextPath(path, spec)),
	))
	for _, list := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
		containers, _ := spec[list].([]any)
		for index, fields := range containers {
			if fields, ok := fields.(map[string]any); ok {
				if err := r.read(path+"."+list+"["+strconv.Itoa(index)+"]", fields); err != nil {
					return err
				}
			}
		}
		if list == "initContainers" {
			session[list] = ast.NewArray(r.scopes[1:]...)
		}
	}
	session["scopes"] = ast.NewArray(r.scopes...)
	session["containers"] = ast.NewArray(r.scopes[1:]...)
	session["specs"] = r.specs
	session["unset"] = r.unset()
	session["agents"] = ast.NewArray(r.agents...)
	session["companions"] = ast.NewArray(r.companions...)
	session["engines"] = ast.NewArray(r.engines...)
	session["privileged"] = ast.NewArray(r.privileged...)
	return nil
}

// reader reads the containers of one Pod.
type reader struct {
	specs                         map[string]any // as they are, by path: converted where a rule looks
	mainContainer                 string
	ofPod                         ast.Object // its security context
	scopes, agents, companions    []*ast.Term
	engines, privileged, unpinned []*ast.Term
}

// read adds a container that stands at path.
func (r *reader) read(path string, fields map[string]any) error {
	context, err := ast.InterfaceToValue(objectAt(fields, "securityContext"))
	if err != nil {
		return fmt.Errorf("convert the security context of %s for its policies: %w", path, err)
	}
	r.specs[path] = fields
	name, _ := fields["name"].(string)
	privileged := objectAt(fields, "securityContext")["privileged"] == true
	known := [][2]*ast.Term{
		pair("path", path),
		pair("name", name),
		pair("subject", "container "+strconv.Quote(name)),
		field("context", ast.NewTerm(context)),
		pair("contextPath", contextPath(path, fields)),
		field("privileged", ast.InternedTerm(privileged)),
		field("effective", ast.NewTerm(over(r.ofPod, context.(ast.Object)))),
	}
	e := engine{path: path, fields: fields}
	if name != r.mainContainer {
		e.commandLine = commandLine(fields)
		known = append(known, pair("commandLine", e.commandLine))
	}
	container := ast.ObjectTerm(known...)
	r.scopes = append(r.scopes, container)
	if privileged {
		r.privileged = append(r.privileged, container)
	}
	if image, _ := fields["image"].(string); image != "" && !strings.Contains(image, "@") {
		r.unpinned = append(r.unpinned, container)
	}
	if name == r.mainContainer {
		r.agents = append(r.agents, container)
		return nil
	}
	r.companions = append(r.companions, container)
	if privileged && e.runsDocker() {
		r.engines = append(r.engines, e.read(container))
	}
	return nil
}

// unset are the containers whose security context does not say, or not in the type that it must have; or whose image has no
// digest.
func (r *reader) unset() map[string]any {
	unset := map[string]any{"digest": ast.NewArray(r.unpinned...)}
	for _, setting := range [...]string{"allowPrivilegeEscalation", "runAsNonRoot"} {
		unset[setting] = r.those(func(context ast.Object) bool {
			value := context.Get(keys[setting])
			return value == nil || !isBoolean(value)
		})
	}
	unset["seccompProfile"] = r.those(func(context ast.Object) bool {
		profile := context.Get(keys["seccompProfile"])
		return profile == nil || !isObject(profile)
	})
	unset["dropAll"] = r.those(func(context ast.Object) bool {
		drop, err := context.Find(dropPath)
		list, ok := drop.(*ast.Array)
		return err != nil || !ok || !list.Until(func(name *ast.Term) bool { return name.Equal(allCapabilities) })
	})
	return unset
}

// dropPath leads from a security context to the capabilities that it drops.
var (
	dropPath        = ast.Ref{ast.StringTerm("capabilities"), ast.StringTerm("drop")}
	allCapabilities = ast.StringTerm("ALL")
)

// those are the containers with such a security context.
func (r *reader) those(such func(context ast.Object) bool) *ast.Array {
	var found []*ast.Term
	for _, container := range r.scopes[1:] {
		if such(container.Value.(ast.Object).Get(keys["context"]).Value.(ast.Object)) {
			found = append(found, container)
		}
	}
	return ast.NewArray(found...)
}

// over is what holds for a container: its own settings and, for the rest, the Pod's. Null is no setting.
func over(ofPod, ofContainer ast.Object) ast.Object {
	settings := ast.NewObjectWithCapacity(ofPod.Len() + ofContainer.Len())
	for _, some := range [...]ast.Object{ofPod, ofContainer} {
		some.Foreach(func(key, value *ast.Term) {
			if !isNull(value) {
				settings.Insert(key, value)
			}
		})
	}
	return settings
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
	for key := range strings.FieldsSeq(`path name subject context contextPath privileged effective commandLine
		container root line hosts socket socketMount group data dataMount volume
		allowPrivilegeEscalation runAsNonRoot seccompProfile`) {
		keys[key] = ast.StringTerm(key)
	}
	return keys
}()

func field(key string, value *ast.Term) [2]*ast.Term {
	return [2]*ast.Term{keys[key], value}
}

func pair(key, value string) [2]*ast.Term { return field(key, ast.StringTerm(value)) }

func isNull(t *ast.Term) bool {
	_, null := t.Value.(ast.Null)
	return null
}

func isBoolean(t *ast.Term) bool {
	_, boolean := t.Value.(ast.Boolean)
	return boolean
}

func isObject(t *ast.Term) bool {
	_, ok := t.Value.(ast.Object)
	return ok
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

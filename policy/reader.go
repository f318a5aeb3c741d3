package policy

import (
	"maps"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// reader reads the containers of one Pod.
type reader struct {
	mainContainer string
	pod           *ast.Term
	path          string         // of the Pod's spec
	spec, context map[string]any // the Pod's
	volumes       map[string]any // by their names
	containers    []container
	engines       []*ast.Term
	scopes        map[string]any // the Pod and its containers as they are read, by path
	specs         map[string]any // the Pod and its containers as they are, by path: converted where a rule looks
	effective     map[string]any // the security context that holds for each container, by path
}

// container is what there is to know of one: its term is what policies see.
type container struct {
	term            *ast.Term
	path, name      string
	fields, context map[string]any
	effective       map[string]any // its security context over the Pod's
}

// newReader reads the Pod itself.
func newReader(mainContainer, path string, spec, volumes map[string]any) *reader {
	pod := ast.ObjectTerm(
		pair("path", path),
		pair("name", ""),
		pair("subject", "the Pod"),
		pair("contextPath", contextPath(path, spec)),
	)
	return &reader{
		mainContainer: mainContainer,
		pod:           pod,
		path:          path,
		spec:          spec,
		context:       objectAt(spec, "securityContext"),
		volumes:       volumes,
		scopes:        map[string]any{path: pod.Value},
		specs:         map[string]any{path: spec},
		effective:     map[string]any{},
	}
}

// read adds a container that stands at path.
func (r *reader) read(path string, fields map[string]any) {
	c := container{path: path, fields: fields, context: objectAt(fields, "securityContext")}
	c.name, _ = fields["name"].(string)
	c.effective = over(r.context, c.context)
	engine := engine{path: path, fields: fields}
	var own [2]*ast.Term
	if c.name == r.mainContainer {
		own = field("unlimited", r.unlimited(fields))
	} else {
		engine.commandLine = commandLine(fields)
		own = pair("commandLine", engine.commandLine)
	}
	c.term = ast.ObjectTerm(
		pair("path", path),
		pair("name", c.name),
		pair("subject", "container "+strconv.Quote(c.name)),
		pair("contextPath", contextPath(path, fields)),
		field("privileged", ast.InternedTerm(c.isPrivileged())),
		field("root", ast.InternedTerm(isRoot(c.effective))),
		field("nonRoot", ast.InternedTerm(isNonRoot(c.effective))),
		own,
	)
	r.containers, r.scopes[path], r.specs[path] = append(r.containers, c), c.term.Value, fields
	r.effective[path] = c.effective
	if c.name != r.mainContainer && c.isPrivileged() && engine.runsDocker() {
		r.engines = append(r.engines, r.readEngine(&engine, c.term))
	}
}

// over is what holds for a container: its own settings and, for the rest, the Pod's.
func over(ofPod, ofContainer map[string]any) map[string]any {
	settings := make(map[string]any, len(ofPod)+len(ofContainer))
	maps.Copy(settings, ofPod)
	maps.Copy(settings, ofContainer)
	return settings
}

// tell adds to a session what was read.
func (r *reader) tell(session map[string]any) error {
	adds, err := r.adds()
	if err != nil {
		return err
	}
	session["scopes"], session["specs"], session["effective"] = r.scopes, r.specs, r.effective
	session["containers"] = r.those(func(*container) bool { return true })
	session["initContainers"] = r.those(func(c *container) bool { return strings.HasPrefix(c.path, r.path+".initContainers[") })
	session["agents"] = r.those(func(c *container) bool { return c.name == r.mainContainer })
	session["companions"] = r.those(func(c *container) bool { return c.name != r.mainContainer })
	session["privileged"] = r.those((*container).isPrivileged)
	session["engines"] = list(r.engines)
	session["clients"] = list(r.clients())
	session["grants"] = list(r.grants())
	session["adds"] = list(adds)
	session["unset"] = r.unset()
	session["unconfined"] = r.unconfined()
	return nil
}

var none = ast.NewArray()

// list is an array of terms.
func list(terms []*ast.Term) *ast.Array {
	if len(terms) == 0 {
		return none
	}
	return ast.NewArray(terms...)
}

// those are the containers of a kind.
func (r *reader) those(are func(c *container) bool) *ast.Array {
	var found []*ast.Term
	for i := range r.containers {
		if c := &r.containers[i]; are(c) {
			found = append(found, c.term)
		}
	}
	return list(found)
}

func (c *container) isPrivileged() bool { return c.context["privileged"] == true }

package policy

import (
	"fmt"
	"slices"
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
func (r *reader) read(path string, fields map[string]any) error {
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
		read, err := r.readEngine(&engine, c.term)
		if err != nil {
			return err
		}
		r.engines = append(r.engines, read)
	}
	return nil
}

// over is what holds for a container: its own settings and, for the rest, the Pod's. Null is no setting.
func over(ofPod, ofContainer map[string]any) map[string]any {
	settings := make(map[string]any, len(ofPod)+len(ofContainer))
	for _, context := range [...]map[string]any{ofPod, ofContainer} {
		for setting, value := range context {
			if value != nil {
				settings[setting] = value
			}
		}
	}
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

// unset are the containers whose security context does not say, or not in the type that it must have, where the Pod's does not
// say well for all; or whose image has no digest. Under fsGroup it is the Pod
// that has none, and under sizeLimit its volumes.
func (r *reader) unset() map[string]any {
	unset := map[string]any{
		"allowPrivilegeEscalation": r.those(func(c *container) bool { return !is[bool](c.context["allowPrivilegeEscalation"]) }),
		"digest": r.those(func(c *container) bool {
			image, _ := c.fields["image"].(string)
			return image != "" && !strings.Contains(image, "@")
		}),
		"dropAll": r.those(func(c *container) bool { return !dropsAll(c.context) }),
	}
	unset["runAsNonRoot"] = r.those(func(c *container) bool {
		return r.context["runAsNonRoot"] != true && !is[bool](c.context["runAsNonRoot"])
	})
	unset["seccompProfile"] = r.those(func(c *container) bool {
		return !confines(r.context, "seccompProfile") && !is[map[string]any](c.context["seccompProfile"])
	})
	unset["fsGroup"], unset["sizeLimit"] = none, list(r.unsized())
	if _, ok := numberOf(r.context["fsGroup"]); !ok {
		unset["fsGroup"] = ast.NewArray(ast.StringTerm(r.path))
	}
	return unset
}

// unsized are the Pod's volumes in memory without a sizeLimit, but for Kandev's own.
func (r *reader) unsized() []*ast.Term {
	var unsized []*ast.Term
	volumes, _ := r.spec["volumes"].([]any)
	for index, volume := range volumes {
		volume, _ := volume.(map[string]any)
		name, isName := volume["name"].(string)
		source := objectAt(volume, "emptyDir")
		limit, has := source["sizeLimit"]
		if source["medium"] == "Memory" && isName && name != authVolume && (!has || limit == false) {
			unsized = append(unsized, ast.ObjectTerm(
				pair("name", name),
				pair("path", r.path+".volumes["+strconv.Itoa(index)+"].emptyDir"),
			))
		}
	}
	return unsized
}

// unconfined are, by what would confine them, the agents that do not have all of it, and the Pod and the containers that give
// it up.
func (r *reader) unconfined() map[string]any {
	return map[string]any{
		"agents":                   list(r.unconfinedAgents()),
		"allowPrivilegeEscalation": r.scopesWhere(func(context map[string]any) bool { return context["allowPrivilegeEscalation"] == true }),
		"appArmorProfile":          r.scopesWhere(func(context map[string]any) bool { return isUnconfined(context, "appArmorProfile") }),
		"runAsNonRoot":             r.scopesWhere(func(context map[string]any) bool { return context["runAsNonRoot"] == false }),
		"runAsUser":                r.scopesWhere(isRoot),
		"seccompProfile":           r.scopesWhere(func(context map[string]any) bool { return isUnconfined(context, "seccompProfile") }),
	}
}

// scopesWhere are the Pod and the containers with such a security context.
func (r *reader) scopesWhere(such func(context map[string]any) bool) *ast.Array {
	var found []*ast.Term
	if such(r.context) {
		found = append(found, r.pod)
	}
	for _, c := range r.containers {
		if such(c.context) {
			found = append(found, c.term)
		}
	}
	return list(found)
}

// isRoot reports whether a security context asks for user 0.
func isRoot(context map[string]any) bool {
	user, ok := numberOf(context["runAsUser"])
	return ok && user == 0
}

// isNonRoot reports whether a security context refuses root, or asks for another user. Nothing is known where the image alone
// decides.
func isNonRoot(context map[string]any) bool {
	user, ok := numberOf(context["runAsUser"])
	return context["runAsNonRoot"] == true || ok && user > 0
}

// isUnconfined reports whether a security context has a profile of a kind that is neither the runtime's nor a file of the node.
func isUnconfined(context map[string]any, kind string) bool {
	return is[map[string]any](context[kind]) && !confines(context, kind)
}

// unconfinedAgents are the agents that lack some of the settings that confine them, or others as good.
func (r *reader) unconfinedAgents() []*ast.Term {
	var agents []*ast.Term
	for i := range r.containers {
		c := &r.containers[i]
		if lacks := c.lacks(); c.name == r.mainContainer && len(lacks) > 0 {
			agents = append(agents, ast.ObjectTerm(
				field("container", c.term),
				field("lacks", ast.ArrayTerm(lacks...)),
			))
		}
	}
	return agents
}

// What a container may lack.
var (
	noEscalation   = ast.StringTerm("allowPrivilegeEscalation: false")
	noCapabilities = ast.StringTerm("capabilities.drop: [ALL]")
	noRoot         = ast.StringTerm("runAsNonRoot: true")
	someSeccomp    = ast.StringTerm("seccompProfile.type: RuntimeDefault")
)

func (c *container) lacks() []*ast.Term {
	var lacks []*ast.Term
	for _, demand := range [...]struct {
		setting *ast.Term
		met     bool
	}{
		{noEscalation, c.context["allowPrivilegeEscalation"] == false},
		{noCapabilities, dropsAll(c.context)},
		{noRoot, isNonRoot(c.effective)},
		{someSeccomp, confines(c.effective, "seccompProfile")},
	} {
		if !demand.met {
			lacks = append(lacks, demand.setting)
		}
	}
	return lacks
}

// dropsAll reports whether a security context drops every capability. The standards take ALL in upper case alone.
func dropsAll(context map[string]any) bool {
	drop, _ := objectAt(context, "capabilities")["drop"].([]any)
	return slices.Contains(drop, any("ALL"))
}

// confines reports whether a security context has a profile of a kind that confines.
func confines(context map[string]any, kind string) bool {
	profile := objectAt(context, kind)["type"]
	return profile == "RuntimeDefault" || profile == "Localhost"
}

// adds are the capabilities that containers add.
func (r *reader) adds() ([]*ast.Term, error) {
	var adds []*ast.Term
	for _, c := range r.containers {
		added, _ := objectAt(c.context, "capabilities")["add"].([]any)
		for index, capability := range added {
			converted, err := ast.InterfaceToValue(capability)
			if err != nil {
				return nil, fmt.Errorf("convert the capabilities of %s for its policies: %w", c.path, err)
			}
			adds = append(adds, ast.ObjectTerm(
				field("capability", ast.NewTerm(converted)),
				pair("path", c.path+".securityContext.capabilities.add["+strconv.Itoa(index)+"]"),
				field("container", c.term),
			))
		}
	}
	return adds, nil
}

// The volumes of Kandev's own that matter here: the agent's workspace, and its credentials, which are always small.
const (
	workspaceVolume = "kandev-workspace"
	authVolume      = "kandev-auth"
)

// grants are the mounts through which companions can write to the workspace.
func (r *reader) grants() []*ast.Term {
	var grants []*ast.Term
	for _, c := range r.containers {
		mounts, _ := c.fields["volumeMounts"].([]any)
		for index, mount := range mounts {
			fields, _ := mount.(map[string]any)
			if c.name != r.mainContainer && fields["name"] == workspaceVolume && fields["readOnly"] != true {
				grants = append(grants, ast.ObjectTerm(
					field("companion", c.term),
					pair("path", c.path+".volumeMounts["+strconv.Itoa(index)+"]"),
				))
			}
		}
	}
	return grants
}

// bounded are the resources of which a session is to have a limit; unlimited are those that one lacks, a bit for each.
var (
	bounded   = [...]string{"ephemeral-storage", "memory"}
	unlimited = func() (lists [1 << len(bounded)]*ast.Term) {
		for lacking := range lists {
			var names []*ast.Term
			for i, resource := range bounded {
				if lacking&(1<<i) != 0 {
					names = append(names, ast.StringTerm(resource))
				}
			}
			lists[lacking] = ast.ArrayTerm(names...)
		}
		return lists
	}()
)

// unlimited are the resources that neither the container nor the Pod limits.
func (r *reader) unlimited(fields map[string]any) *ast.Term {
	lacking := 0
	for i, resource := range bounded {
		if !limits(fields, resource) && !limits(r.spec, resource) {
			lacking |= 1 << i
		}
	}
	return unlimited[lacking]
}

// limits reports whether a container or a Pod has a limit for a resource.
func limits(fields map[string]any, resource string) bool {
	limit, ok := objectAt(objectAt(fields, "resources"), "limits")[resource]
	return ok && limit != false
}

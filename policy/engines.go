package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
)

// engine is a companion that may run a Docker daemon; an ordinary node lets only privileged ones. lib/engines.rego describes what
// is read of it.
type engine struct {
	path        string
	fields      map[string]any
	commandLine string
}

// dockerData is Docker's data directory where nothing else is said.
const dockerData = "/var/lib/docker"

// runsDocker reports whether the companion runs a Docker daemon.
func (e *engine) runsDocker() bool {
	return e.imageNames("dind") || strings.Contains(e.commandLine, "dockerd") || slices.ContainsFunc(e.mounts(), func(mount any) bool {
		fields, _ := mount.(map[string]any)
		return fields["mountPath"] == dockerData && fields["readOnly"] != true
	})
}

// daemonFlag is a flag of a daemon with its value.
type daemonFlag struct{ name, value string }

var daemonFlagNames = [...]string{"-H", "-G", "-g", "--host", "--group", "--data-root"}

// daemonFlags finds the flags of a daemon that matter, as flag_pattern of lib/engines.rego does, at a tenth of the cost.
func daemonFlags(line string) (flags []daemonFlag) {
	const space = "\t\n\f\r "
	for {
		at := strings.IndexAny(line, space)
		if at < 0 {
			return flags
		}
		line = line[at+1:]
		for _, name := range daemonFlagNames {
			if value, ok := strings.CutPrefix(line, name); ok {
				line = strings.TrimLeft(strings.TrimLeft(value, space+"="), `"'`)
				value = line
				if end := strings.IndexAny(line, space+`"';&|)`); end >= 0 {
					value = line[:end]
				}
				flags, line = append(flags, daemonFlag{name, value}), line[len(value):]
				break
			}
		}
	}
}

// readEngine is what there is to know of an engine, which stands in a container.
func (r *reader) readEngine(e *engine, container *ast.Term) *ast.Term {
	line := e.commandLine
	if isEmpty(e.fields["command"]) {
		line = "dockerd-entrypoint.sh " + line
	}
	flags := daemonFlags(line)
	hosts := slices.DeleteFunc(values(flags, "", "-H", "--host"), func(host string) bool { return strings.HasPrefix(host, "unix://") })
	socket := firstOf(values(flags, "unix://", "-H", "--host"), "unix:///var/run/docker.sock")[len("unix://"):]
	group := firstOf(values(flags, "", "-G", "--group"), "docker")
	data := firstOf(values(flags, "/", "-g", "--data-root"), dockerData) // a shell's -ge is no -g
	return ast.ObjectTerm(
		field("container", container),
		field("root", ast.InternedTerm(!e.imageNames("rootless"))),
		pair("line", line),
		field("hosts", ast.ArrayTerm(terms(hosts)...)),
		field("socketMount", r.mountOf(e, socket)),
		pair("group", group),
		field("groupShared", ast.InternedTerm(givesGroup(r.context, group))),
		pair("data", data),
		field("dataMount", r.mountOf(e, data)),
		field("unlimited", r.unlimited(e.fields)),
	)
}

// clients are, where there is an engine, the containers that DOCKER_HOST tells to reach a daemon over TCP.
func (r *reader) clients() []*ast.Term {
	if len(r.engines) == 0 {
		return nil
	}
	var clients []*ast.Term
	for _, c := range r.containers {
		variables, _ := c.fields["env"].([]any)
		for index, variable := range variables {
			fields, _ := variable.(map[string]any)
			if host, _ := fields["value"].(string); fields["name"] == "DOCKER_HOST" && strings.HasPrefix(host, "tcp://") {
				clients = append(clients, ast.ObjectTerm(
					field("container", c.term),
					pair("host", host),
					pair("path", c.path+".env["+strconv.Itoa(index)+"].value"),
				))
			}
		}
	}
	return clients
}

// givesGroup reports whether a Pod with a security context puts each of its containers into a group, named by its number.
func givesGroup(ofPod map[string]any, group string) bool {
	given, _ := ofPod["supplementalGroups"].([]any)
	return slices.ContainsFunc(append([]any{ofPod["fsGroup"]}, given...), func(given any) bool {
		value, err := ast.InterfaceToValue(given)
		number, ok := value.(ast.Number)
		if err != nil || !ok {
			return false
		}
		integer, err := builtins.NumberToInt(number)
		return err == nil && integer.String() == group
	})
}

// values are what the flags of some names say that starts with a text.
func values(flags []daemonFlag, start string, names ...string) []string {
	var said []string
	for _, flag := range flags {
		if slices.Contains(names, flag.name) && strings.HasPrefix(flag.value, start) {
			said = append(said, flag.value)
		}
	}
	return said
}

// firstOf is the first of some values, or what holds where there is none.
func firstOf(said []string, otherwise string) string {
	if len(said) == 0 {
		return otherwise
	}
	return said[0]
}

// imageNames reports whether the image has a text in its name.
func (e *engine) imageNames(text string) bool {
	image, _ := e.fields["image"].(string)
	return strings.Contains(image, text)
}

// mountOf is the deepest mount of a volume that a path of an engine lies in.
func (r *reader) mountOf(e *engine, path string) *ast.Term {
	deepest, mountPath, name := 0, "", ""
	for index, mount := range e.mounts() {
		fields, _ := mount.(map[string]any)
		at, isPath := fields["mountPath"].(string)
		volume, isName := fields["name"].(string)
		directory := strings.TrimRight(at, "/") + "/"
		if isPath && isName && len(directory) > deepest && strings.HasPrefix(path+"/", directory) {
			deepest, mountPath, name = len(directory), e.path+".volumeMounts["+strconv.Itoa(index)+"]", volume
		}
	}
	if deepest == 0 {
		return ast.InternedEmptyObject
	}
	volume, known := r.volumes[name].(map[string]any)
	return ast.ObjectTerm(
		pair("path", mountPath),
		pair("volume", name),
		pair("kind", kindOf(volume, known)),
		field("bounded", ast.InternedTerm(bounds(objectAt(volume, "emptyDir")["sizeLimit"]))),
	)
}

// kindOf is what a volume is. The API server makes an emptyDir of one that is nothing else.
func kindOf(volume map[string]any, known bool) string {
	if !known {
		return ""
	}
	found := ""
	for kind := range volume {
		if kind != "name" && (found == "" || kind < found) {
			found = kind
		}
	}
	return cmp.Or(found, "emptyDir")
}

func (e *engine) mounts() []any {
	mounts, _ := e.fields["volumeMounts"].([]any)
	return mounts
}

// isEmpty reports whether a value holds nothing, or cannot hold anything.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case string:
		return v == ""
	}
	return true
}

func terms(texts []string) []*ast.Term {
	all := make([]*ast.Term, len(texts))
	for i, text := range texts {
		all[i] = ast.StringTerm(text)
	}
	return all
}

package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/kandev/kandev-podlint/internal/lazyregexp"
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

// daemonFlags finds the flags of a daemon that matter, with their values, as flag_pattern does.
var daemonFlags = lazyregexp.New(`\s(-[HGg]|--host|--group|--data-root)[\s=]*["']*([^\s"';&|)]*)`)

// read is what there is to know of an engine, which stands in a container.
func (e *engine) read(container *ast.Term) *ast.Term {
	line := e.commandLine
	if isEmpty(e.fields["command"]) {
		line = "dockerd-entrypoint.sh " + line
	}
	flags := daemonFlags().FindAllStringSubmatch(line, -1)
	hosts := values(flags, "", "-H", "--host")
	socket := firstOf(values(flags, "unix://", "-H", "--host"), "unix:///var/run/docker.sock")[len("unix://"):]
	data := firstOf(values(flags, "/", "-g", "--data-root"), dockerData) // a shell's -ge is no -g
	return ast.ObjectTerm(
		field("container", container),
		field("root", ast.InternedTerm(!e.imageNames("rootless"))),
		pair("line", line),
		field("hosts", ast.ArrayTerm(terms(hosts)...)),
		pair("socket", socket),
		field("socketMount", e.mountOf(socket)),
		pair("group", firstOf(values(flags, "", "-G", "--group"), "docker")),
		pair("data", data),
		field("dataMount", e.mountOf(data)),
	)
}

// values are what the flags of some names say that starts with a text.
func values(flags [][]string, start string, names ...string) []string {
	var said []string
	for _, flag := range flags {
		if slices.Contains(names, flag[1]) && strings.HasPrefix(flag[2], start) {
			said = append(said, flag[2])
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

// mountOf is the deepest mount of a volume that a path lies in.
func (e *engine) mountOf(path string) *ast.Term {
	deepest, found := 0, ast.InternedEmptyObject
	for index, mount := range e.mounts() {
		fields, _ := mount.(map[string]any)
		at, isPath := fields["mountPath"].(string)
		volume, isName := fields["name"].(string)
		directory := strings.TrimRight(at, "/") + "/"
		if isPath && isName && len(directory) > deepest && strings.HasPrefix(path+"/", directory) {
			deepest, found = len(directory), ast.ObjectTerm(
				pair("path", e.path+".volumeMounts["+strconv.Itoa(index)+"]"),
				pair("volume", volume),
			)
		}
	}
	return found
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

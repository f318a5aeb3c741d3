package policy

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

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

// unsized are the Pod's volumes in memory that no sizeLimit bounds, but for Kandev's own.
func (r *reader) unsized() []*ast.Term {
	var unsized []*ast.Term
	volumes, _ := r.spec["volumes"].([]any)
	for index, volume := range volumes {
		volume, _ := volume.(map[string]any)
		name, isName := volume["name"].(string)
		source := objectAt(volume, "emptyDir")
		if source["medium"] == "Memory" && isName && name != authVolume && !bounds(source["sizeLimit"]) {
			unsized = append(unsized, ast.ObjectTerm(
				pair("name", name),
				pair("path", r.path+".volumes["+strconv.Itoa(index)+"].emptyDir"),
			))
		}
	}
	return unsized
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
	return bounds(objectAt(objectAt(fields, "resources"), "limits")[resource])
}

// bounds reports whether a quantity is above zero, which the kubelet takes for no limit: one that is has a digit other than 0
// before its unit.
func bounds(quantity any) bool {
	var text string
	switch v := quantity.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case float64, int64, int:
		text = fmt.Sprint(v)
	}
	text = strings.TrimLeft(strings.TrimPrefix(text, "+"), "0.")
	return text != "" && '1' <= text[0] && text[0] <= '9'
}

package policy

import (
	"strconv"

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

package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// unset are the containers whose security context does not say, or not in the type that it must have, where the Pod's does not
// say well for all; or whose image has no digest. Under fsGroup it is the Pod that has none, and under sizeLimit its volumes.
func (r *reader) unset() map[string]any {
	fsGroup := none
	if _, ok := numberOf(r.context["fsGroup"]); !ok {
		fsGroup = ast.NewArray(ast.StringTerm(r.path))
	}
	return map[string]any{
		"allowPrivilegeEscalation": r.those(func(c *container) bool { return !is[bool](c.context["allowPrivilegeEscalation"]) }),
		"digest":                   r.those((*container).isUnpinned),
		"dropAll":                  r.those(func(c *container) bool { return !dropsAll(c.context) }),
		"fsGroup":                  fsGroup,
		"runAsNonRoot": r.those(func(c *container) bool {
			return r.context["runAsNonRoot"] != true && !is[bool](c.context["runAsNonRoot"])
		}),
		"seccompProfile": r.those(func(c *container) bool {
			return !confines(r.context, "seccompProfile") && !is[map[string]any](c.context["seccompProfile"])
		}),
		"sizeLimit": list(r.unsized()),
	}
}

func (c *container) isUnpinned() bool {
	image, _ := c.fields["image"].(string)
	return image != "" && !strings.Contains(image, "@")
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
		if c.name != r.mainContainer {
			continue
		}
		if lacks := c.lacks(); len(lacks) > 0 {
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

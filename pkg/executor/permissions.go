package executor

import (
	"context"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kandev/kandev-podlint/pkg/compose"
)

// PolicyRule is one rule of a Role, in the form of rbac.authorization.k8s.io/v1.
type PolicyRule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

// Rules returns what the executor's identity needs in the namespace of its sessions, for a workspace mode. It is the
// source of the manifests in k8s/rbac and of what Probe asks for.
//
// Exec and port-forward need get and create: by SPDY they are POST requests, by WebSocket GET, and since Kubernetes 1.35 a
// GET that upgrades needs create too.
func Rules(mode compose.WorkspaceMode) []PolicyRule {
	core := func(resource string, verbs ...string) PolicyRule {
		return PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
	}
	rules := []PolicyRule{
		core("pods", "get", "list", "watch", "create", "delete"),
		core("pods/exec", "get", "create"),
		core("pods/portforward", "get", "create"),
		core("pods/log", "get"),
		core("events", "list", "watch"),
	}
	switch mode {
	case compose.ManagedPVC:
		rules = append(rules, core("persistentvolumeclaims", "get", "list", "watch", "create", "delete"))
	case compose.ExistingClaim:
		rules = append(rules, core("persistentvolumeclaims", "get"))
	case compose.EmptyDir:
	}
	return rules
}

// permission is one verb of one rule.
type permission struct {
	resource string // with the subresource: pods/exec
	verb     string
}

func (p permission) String() string { return p.verb + " " + p.resource }

// key is the permission's part of a step's key: pods-exec-create.
func (p permission) key() string { return strings.ReplaceAll(p.resource, "/", "-") + "-" + p.verb }

// rule is the rule that grants the permission and nothing else.
func (p permission) rule() PolicyRule {
	return PolicyRule{APIGroups: []string{""}, Resources: []string{p.resource}, Verbs: []string{p.verb}}
}

// permissions lists the verbs of rules one by one.
func permissions(rules []PolicyRule) []permission {
	var out []permission
	for _, r := range rules {
		for _, verb := range r.Verbs {
			out = append(out, permission{resource: r.Resources[0], verb: verb})
		}
	}
	return out
}

// allowed asks the API server whether this client may do something in a namespace.
func (c *Client) allowed(ctx context.Context, namespace string, p permission) (bool, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	resource, subresource, _ := strings.Cut(p.resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: p.verb, Version: "v1", Resource: resource, Subresource: subresource,
		},
	}}
	answer := &authorizationv1.SelfSubjectAccessReview{}
	err := c.rest.Post().
		AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").
		Body(review).
		Do(ctx).
		Into(answer)
	return answer.Status.Allowed, classify(err)
}

// whoAmI returns the name under which the API server knows this client.
func (c *Client) whoAmI(ctx context.Context) (string, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	answer := &authenticationv1.SelfSubjectReview{}
	err := c.rest.Post().
		AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").
		Body(&authenticationv1.SelfSubjectReview{}).
		Do(ctx).
		Into(answer)
	return answer.Status.UserInfo.Username, classify(err)
}

// roleRule writes a rule as it stands in a Role.
func roleRule(r PolicyRule) string {
	return fmt.Sprintf("{apiGroups: [%q], resources: [%s], verbs: [%s]}",
		r.APIGroups[0], strings.Join(r.Resources, ", "), strings.Join(r.Verbs, ", "))
}

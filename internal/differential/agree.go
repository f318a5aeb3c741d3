package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// key is what ours and the server's errors are compared by.
type key struct {
	Type  field.ErrorType
	Field string
}

func keys(errs field.ErrorList) []key {
	var out []key
	for _, e := range errs {
		k := key{e.Type, e.Field}
		if strings.HasSuffix(e.Field, ".restartPolicyRules") && e.Type == field.ErrorTypeTooLong {
			k.Type = field.ErrorTypeTooMany // as Kubernetes 1.36 calls what 1.35 calls too long
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// known are the errors of the server that podrules leaves out on purpose.
var known = []struct {
	reason string
	is     func(k key, ours []key) bool
}{
	{
		"resource claims of a static Pod are refused at no field",
		func(k key, ours []key) bool { return k.Field == "[]" && slices.ContainsFunc(ours, isStaticClaim) },
	},
	{
		"Kubernetes before 1.36 reports an absent CSI driver as an invalid name too",
		func(k key, ours []key) bool {
			return strings.HasSuffix(k.Field, ".csi.driver") && slices.Contains(ours, key{field.ErrorTypeRequired, k.Field})
		},
	},
	{
		"a request that the server copied from a limit is not in the template: the error stands at the limit alone",
		func(k key, ours []key) bool {
			return slices.Contains(ours, key{k.Type, strings.Replace(k.Field, ".resources.requests[", ".resources.limits[", 1)})
		},
	},
	{
		"a request of the Pod that the server copied from its containers is not in the template: the error stands at the container alone",
		func(k key, ours []key) bool {
			name, ok := strings.CutPrefix(k.Field, "spec.resources.requests[")
			return ok && slices.ContainsFunc(ours, func(o key) bool {
				return o.Type == k.Type && strings.Contains(o.Field, "ontainers[") && strings.HasSuffix(o.Field, "["+name)
			})
		},
	},
	{
		"a host port that the server copied from a container port is not in the template: the error stands at the container port alone",
		func(k key, ours []key) bool {
			port, ok := strings.CutSuffix(k.Field, ".hostPort")
			return ok && slices.Contains(ours, key{k.Type, port + ".containerPort"})
		},
	},
}

// Differences returns where the two lists do not report the same types of error at the same fields.
func Differences(ours, server field.ErrorList) []string {
	var out []string
	mine, theirs := keys(ours), keys(server)
	for _, k := range mine {
		if !slices.Contains(theirs, k) && !isStaticClaim(k) {
			out = append(out, fmt.Sprintf("only podrules: %s %s", k.Type, k.Field))
		}
	}
	for _, k := range theirs {
		if !slices.Contains(mine, k) && !isKnown(k, mine) {
			out = append(out, fmt.Sprintf("only the server: %s %s", k.Type, k.Field))
		}
	}
	return out
}

// isStaticClaim holds for an error that the server reports at no field at all, podrules at the claim.
func isStaticClaim(k key) bool {
	return k.Type == field.ErrorTypeForbidden && staticClaim.MatchString(k.Field)
}

var staticClaim = regexp.MustCompile(`^spec\.resourceClaims\[\d+\]$`)

func isKnown(k key, ours []key) bool {
	for _, d := range known {
		if d.is(k, ours) {
			return true
		}
	}
	return false
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

// Related says whether one of two field paths is the other or below it. The server leaves out an index
// in places, so that paths are also compared without any.
func Related(a, b string) bool {
	return below(a, b) || below(b, a) || index.ReplaceAllString(a, "") == index.ReplaceAllString(b, "")
}

func below(a, b string) bool {
	rest, ok := strings.CutPrefix(a, b)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

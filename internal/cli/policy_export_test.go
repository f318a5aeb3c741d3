package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPolicyExport(t *testing.T) {
	const (
		identity  = " --executor-identity system:serviceaccount:kandev-system:kandev-executor"
		companion = " --companion docker-engine=registry.example/dind@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
		complain  = "kandev-podlint: "
	)
	for name, c := range map[string]struct {
		line string
		want result
	}{
		"as k8s/policy has it": {"-n kandev" + identity + companion, result{0, read(t, "../../k8s/policy/example.yaml"), ""}},
		"nothing": {"", result{2, "", complain + "--namespace: Required value: the namespace of the sessions\n" +
			complain + "--executor-identity: Required value: the user name of the executor's identity\n" +
			complain + "--companion: Required value: without a companion that may be privileged the baseline level of PodSecurity does\n"}},
		"a tag": {"-n kandev" + identity + " --companion docker-engine=docker:29", result{
			2, "", complain + `--companion: Invalid value: "docker:29": the image needs its digest: NAME@sha256:DIGEST, of 64 hexadecimal digits` + "\n",
		}},
		"no image":                   {"-n kandev" + identity + " --companion docker-engine", result{2, "", complain + "--companion: \"docker-engine\" is not NAME=IMAGE@sha256:DIGEST\n"}},
		"an argument":                {"policy.yaml", result{2, "", complain + "kandev-podlint policy export takes no arguments, not 1\n" + complain + "see kandev-podlint policy export --help\n"}},
		"an account of the sessions": {"-n kandev --executor-identity system:serviceaccount:kandev:x" + companion, result{2, "", complain + `--executor-identity: Invalid value: "system:serviceaccount:kandev:x": the executor's account may not be in the sessions' namespace: whoever creates a Pod there can run it as that account` + "\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, "", append([]string{"policy", "export"}, strings.Fields(c.line)...)...)
			if diff := cmp.Diff(c.want, r, cmp.AllowUnexported(result{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package compose

import (
	"fmt"
	"testing"
)

func TestZZ(t *testing.T) {
	for i, s := range []string{
		goodTemplate + "--- # comment\na: 1\n", goodTemplate + "--- \nkind: x\n", "a: 1\r\n---\r\nb: 1\n", goodTemplate + "...\nkind: x\n",
		goodTemplate + "---\n", "---\n" + goodTemplate, goodTemplate + "...\n",
		example("    HostNetwork: true\n" + agent), example(agent + "      env: [{name: A, value: 8080}]\n"), meta("    labels: {a: yes, b: 1.0, c: null, d: 0777, e: 1e3}\n"),
		example(agent + "      securityContext:\n        runAsUser: 1000\n        <<: {runAsUser: 0}\n"),
		"a: &a {x: 1}\nb: {<<: [*a, *a]}\n", "apiVersion: v1\nkind: PodTemplate\n1: x\n\"1\": y\n",
		example(agent + "      securityContext: {privileged: on}\n    hostPID: y\n"), aliasBomb("- &a [x]", "- &%s [%s]", 9),
		"", "# x\n", "---\n", "\ufeff", "null\n", "~", "\"\"", "[]", "5", "a", "apiVersion: v1\nkind: podTemplate\n" + "", "apiVersion: 1\nkind: [PodTemplate]\ntemplate: {}\n", "kind: Pod\napiVersion: v1\nspec: {}\n",
		example("    containers:\n    -\n    - name: kandev-agent\n      image: a\n"), example("    containers: {name: a}\n"), example("    containers: a\n"), example(agent + "    hostPID: \"true\"\n    hostIPC: x\n    priority: 1.5\n    activeDeadlineSeconds: \"5\"\n    terminationGracePeriodSeconds: 99999999999999999999\n"),
		example(agent + "    priority: 99999999999\n    hostname: [a]\n    hostAliases:\n      ip: x\n"), example(agent + "      resources: {limits: {cpu: x, memory: [1]}}\n      ports: [{containerPort: 8o}]\n      readinessProbe: {httpGet: {port: [1]}}\n"),
		example(agent + "    hostname: !!int x\n    subdomain: !!binary x\n    x: .inf\n"), "a: 1\n? [a]\n: b\n~: c\n", "a: \xff\n", "a\x00", "\xff\xfea\x00", "a: &x [*x]\n", "<<: 5\n", "<<: [5]\nkind: x\n",
		"{\"a\":1,\"a\":2}", "{\"apiVersion\":\"v1\",\"kind\":\"PodTemplate\",\"template\":{\"spec\":{\"hostPID\":1e3}}}", "apiVersion: v1\nkind: PodTemplate\nTemplate: {}\nfoo: 1\n",
		"config:\n  platform: x\n  main_containr: a\n  workspace: {mode: nfs, sise: 1}\n  pod_template_yaml: 5\n", "pod_template_yaml: \"\"\n", "pod_template_yaml: null\nworkspace: {mode: empty_dir, size: 1Gi, claim_name: x}\n", "pod_template_yaml: a\npod_template_file: b\nmain_container: A_b\nplatform: [x]\n",
		"pod_template_file: x\nworkspace: {mode: existing_claim}\n", "pod_template_file: x\nworkspace: {size: -1, storage_class: A, access_modes: [ReadWriteOnce, ReadWriteOnce, X, ReadWriteOncePod]}\n", "pod_template_yaml: [x]\n", "pod_template_yaml: |\n  kind: PodTemplate\n  a: 1\n  a: 2\n",
	} {
		fmt.Printf("=== %.90q\n", s)
		for _, v := range findings([]byte(s)) {
			var w string; var err error; if v.Rule != RuleDocumentEncoding { w, err = slice([]byte(s), v.Place) }
			fmt.Printf("%d:%d-%d:%d %s %v | %s | %s | %q %v\n", v.Place.Start.Line, v.Place.Start.Column, v.Place.End.Line, v.Place.End.Column, v.Rule, v.Path, v.Detail, v.Remedy, w, err)
		}
	}
}

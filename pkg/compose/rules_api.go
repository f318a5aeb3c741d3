package compose

import "github.com/kandev/kandev-podlint/pkg/compose/finding"

// apiRule describes one topic of what the API server refuses; the finding itself says what in particular.
func apiRule(name, title, bad, good string) finding.Rule {
	if good == "" {
		good = goodTemplate
	}
	return finding.Rule{
		Name: name, Title: title, Group: "API server", Source: finding.API, Severity: finding.Error,
		Description: "kube-apiserver refuses such a Pod when it is created, so that no session of this template could start. The rule follows the API server's own validation with its default feature gates.",
		Remedy:      "Change the field to what the finding says the API server takes.",
		Bad:         bad, Good: good,
		References: []string{podDocs},
	}
}

func apiRules() []finding.Rule {
	return []finding.Rule{
		apiRule(RuleAPIMetadata, "Labels and annotations are well-formed",
			"apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata:\n    labels:\n      team: \"a b\"\n  spec:\n"+agent,
			"apiVersion: v1\nkind: PodTemplate\ntemplate:\n  metadata:\n    labels:\n      team: a-b\n  spec:\n"+agent),
		apiRule(RuleAPIPod, "Fields of the Pod are valid",
			example("    activeDeadlineSeconds: 0\n"+agent), ""),
		apiRule(RuleAPIContainer, "Containers are complete and uniquely named",
			example(agent+"    - name: Tools_1\n      image: registry.example/tools:2.1\n"),
			example(agent+"    - name: tools-1\n      image: registry.example/tools:2.1\n")),
		apiRule(RuleAPIImage, "Images are named",
			example(agent+"    - name: tools\n"), example(agent+sidecar)),
		apiRule(RuleAPIEnv, "Environment entries are valid",
			example(agent+"      env:\n      - name: \"A=B\"\n        value: x\n"),
			example(agent+"      env:\n      - name: A\n        value: x\n")),
		apiRule(RuleAPIPort, "Ports are in range, and unique where they must be",
			example(agent+"      ports:\n      - containerPort: 70000\n"),
			example(agent+"      ports:\n      - containerPort: 7000\n")),
		apiRule(RuleAPIMount, "Mounts name volumes that exist, at usable paths",
			example(agent+"      volumeMounts:\n      - name: data\n        mountPath: /data\n"),
			example(agent+"      volumeMounts:\n      - name: data\n        mountPath: /data\n    volumes:\n    - name: data\n      emptyDir: {}\n")),
		apiRule(RuleAPIVolume, "Volumes have one valid source",
			example(agent+"    volumes:\n    - name: data\n      hostPath:\n        path: /a/../b\n"),
			example(agent+"    volumes:\n    - name: data\n      emptyDir: {}\n")),
		apiRule(RuleAPIProbe, "Probes and lifecycle hooks have one valid handler",
			example(agent+"      readinessProbe: {}\n"),
			example(agent+"      readinessProbe:\n        exec:\n          command: [\"true\"]\n")),
		apiRule(RuleAPIResources, "Resource requests and limits are valid",
			example(agent+"      resources:\n        requests: {cpu: 2}\n        limits: {cpu: 1}\n"),
			example(agent+"      resources:\n        requests: {cpu: 1}\n        limits: {cpu: 2}\n")),
		apiRule(RuleAPISecurity, "Security contexts are consistent",
			example(agent+"      securityContext:\n        privileged: true\n        allowPrivilegeEscalation: false\n"),
			example(agent+"      securityContext:\n        allowPrivilegeEscalation: false\n")),
		apiRule(RuleAPIScheduling, "Scheduling constraints are valid",
			example("    tolerations:\n    - operator: Exists\n      value: x\n"+agent),
			example("    tolerations:\n    - operator: Exists\n"+agent)),
		apiRule(RuleAPIDNS, "Names and DNS settings are valid",
			example("    hostAliases:\n    - ip: localhost\n"+agent),
			example("    hostAliases:\n    - ip: 127.0.0.1\n      hostnames: [me.example]\n"+agent)),
	}
}

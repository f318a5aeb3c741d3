package compose

import "github.com/kandev/kandev-podlint/pkg/compose/finding"

// deploymentRule describes what keeps a template that breaks no other rule from being deployed.
func deploymentRule(r finding.Rule) finding.Rule {
	r.Group, r.Source, r.Severity = "Deployment", finding.Deployment, finding.Error
	r.Good = example("    containers:\n    - name: kandev-agent\n      image: registry.example/agent:1.4@" + exampleDigest + "\n")
	return r
}

// exampleDigest is one that a registry could have.
const exampleDigest = "sha256:8f1a4c3cbb1f4f0b1f2a7c7c4c5b7b1c8d0e4a5f6b7c8d9e0f1a2b3c4d5e6f70"

func deploymentRules() []finding.Rule {
	return []finding.Rule{
		deploymentRule(finding.Rule{
			Name:        RuleImagePlaceholder,
			Title:       "A placeholder for an image's digest is filled in",
			Description: "A template that is handed on before its images are built, or whose images everybody keeps in a registry of their own, says NAME@" + PlaceholderDigest + ". No registry can have that digest. lint and render take such a template; lint --deployable, probe, session start and everything else that would send it to a cluster do not.",
			Remedy:      "Write the digest that the registry gives for the image.",
			Bad:         example("    containers:\n    - name: kandev-agent\n      image: registry.example/agent:1.4@" + PlaceholderDigest + "\n"),
		}),
		deploymentRule(finding.Rule{
			Name:        RuleImageMutable,
			Title:       "A deployed image has a digest",
			Description: "What a registry gives for a tag can change after the template was reviewed, and a session that is replaced would run something else than the one before it. Only lint --deployable and render --set-image demand a digest; the policy image-not-pinned advises it.",
			Remedy:      "Write the image as NAME:TAG@sha256:DIGEST.",
			Bad:         example(agent),
			References:  []string{"https://kubernetes.io/docs/concepts/containers/images/#image-names"},
		}),
	}
}

package kandev.rules.projected_service_account_token_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.projected_service_account_token as rule

test_also_without_automount if {
	found := rule.findings with input as review.of(fixtures.template({"automountServiceAccountToken": false, "volumes": [
		{"name": "work", "emptyDir": {}},
		{"name": "tokens", "projected": {"sources": [
			{"configMap": {"name": "settings"}},
			{"serviceAccountToken": {"path": "token"}},
			{"serviceAccountToken": {"path": "vault", "audience": "vault"}},
		]}},
	]}))
	{[finding.path, finding.message] | some finding in found} == {
		["template.spec.volumes[1].projected.sources[1].serviceAccountToken", `volume "tokens" holds a service account token for the API server`],
		["template.spec.volumes[1].projected.sources[2].serviceAccountToken", `volume "tokens" holds a service account token for audience "vault"`],
	}
}

test_other_sources if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "settings", "projected": {"sources": [{"configMap": {"name": "settings"}}]}}]}))
}

package kandev.rules.kube_api_access_volume_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.kube_api_access_volume as rule

token_volume := {"name": "kube-api-access-x7k2p", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}

test_name if {
	found := rule.findings with input as review.of(fixtures.template({"volumes": [{"name": "work"}, {"name": "kube-api-access-x"}]}))
	fixtures.paths(found) == {"template.spec.volumes[1].name"}
}

test_other_names if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "kube-api-access"}, {"name": "my-kube-api-access-x"}]}))
}

test_template_cannot_have_it_from_the_api_server if {
	count(rule.findings) == 1 with input as review.of(fixtures.template({"automountServiceAccountToken": true, "volumes": [token_volume]}))
}

test_pod_that_the_api_server_completed if {
	count(rule.findings) == 0 with input as review.of({"spec": {"automountServiceAccountToken": true, "volumes": [token_volume]}})
	count(rule.findings) == 1 with input as review.of({"spec": {"automountServiceAccountToken": false, "volumes": [token_volume]}})
	count(rule.findings) == 1 with input as review.of({"spec": {"automountServiceAccountToken": true, "volumes": [{"name": "kube-api-access-x", "emptyDir": {}}]}})
}

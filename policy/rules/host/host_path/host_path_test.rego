package kandev.rules.host_path_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.host_path as rule

test_any_path if {
	found := rule.findings with input as review.of(fixtures.template({"volumes": [
		{"name": "work", "emptyDir": {}},
		{"name": "cache", "hostPath": {"path": "/data/cache"}},
	]}))
	fixtures.paths(found) == {"template.spec.volumes[1].hostPath"}
}

test_sensitive_paths_are_another_rule_s if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "etc", "hostPath": {"path": "/etc"}}]}))
}

test_source_without_a_path if {
	found := rule.findings with input as review.of(fixtures.template({"volumes": [{"hostPath": {}}]}))
	fixtures.paths(found) == {"template.spec.volumes[0].hostPath"}
}

test_null_is_no_source if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "work", "hostPath": null, "emptyDir": {}}]}))
}

test_harmless_file_of_a_sensitive_directory if {
	count(rule.findings) == 1 with input as review.of(fixtures.template({"volumes": [{"name": "zone", "hostPath": {"path": "/etc/localtime"}}]}))
}

test_allowed_by_the_configuration if {
	template := fixtures.template({"volumes": [
		{"name": "models", "hostPath": {"path": "/data//models"}},
		{"name": "others", "hostPath": {"path": "/database"}},
		{"name": "data", "hostPath": {"path": "/data/"}},
		{"name": "outside", "hostPath": {"path": "/data/../other"}},
	]})
	found := rule.findings with input as review.of(fixtures.told({"host-path": {"allowed": ["/data"]}}, template))
	fixtures.paths(found) == {"template.spec.volumes[1].hostPath", "template.spec.volumes[3].hostPath"}
}

package kandev.rules.sensitive_host_path_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.sensitive_host_path as rule

test_path_and_kind_of_danger if {
	found := rule.findings with input as review.of(fixtures.template({"volumes": [
		{"name": "cache", "hostPath": {"path": "/data/cache"}},
		{"name": "docker", "hostPath": {"path": "/var/run/docker.sock"}},
	]}))
	{[finding.path, finding.message] | some finding in found} == {[
		"template.spec.volumes[1].hostPath.path",
		`volume "docker" is /var/run/docker.sock of the node: the container runtime's socket`,
	]}
}

test_volume_without_a_name if {
	found := rule.findings with input as review.of(fixtures.template({"volumes": [{"hostPath": {"path": "/etc"}}]}))
	fixtures.paths(found) == {"template.spec.volumes[0].hostPath.path"}
}

test_no_host_path if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "work", "emptyDir": {}}]}))
}

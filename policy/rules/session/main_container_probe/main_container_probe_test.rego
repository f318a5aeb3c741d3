package kandev.rules.main_container_probe_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.main_container_probe as rule

probes := {"livenessProbe": {"httpGet": {"port": 80}}, "startupProbe": {"tcpSocket": {"port": 80}}, "readinessProbe": {"httpGet": {"port": 80}}}

test_agent if {
	found := rule.findings with input as review.of(fixtures.template({"containers": [object.union({"name": "kandev-agent"}, probes)]}))
	fixtures.paths(found) == {"template.spec.containers[0].livenessProbe", "template.spec.containers[0].startupProbe"}
}

test_companion if {
	count(rule.findings) == 0 with input as review.of(fixtures.companion(probes))
}

test_command if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"containers": [{"name": "kandev-agent", "livenessProbe": {"exec": {"command": ["true"]}}}]}))
}

package kandev.rules.session_unbounded_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.session_unbounded as rule

agent := {"name": "kandev-agent", "resources": {"limits": {"memory": "1Gi", "ephemeral-storage": "1Gi"}}}

about(spec) := {[finding.path, object.get(finding, "severity", "info"), finding.message] | some finding in found} if {
	found := rule.findings with input as review.of(fixtures.template(object.union({"containers": [agent]}, spec)))
}

test_agent if {
	about({"containers": [{"name": "kandev-agent"}]}) == {[
		"template.spec.containers[0].resources", "info",
		`container "kandev-agent" has no limit for ephemeral-storage and memory`,
	]}
	about({"containers": [{"name": "kandev-agent"}], "resources": {"limits": {"memory": "1Gi"}}}) == {[
		"template.spec.containers[0].resources", "info",
		`container "kandev-agent" has no limit for ephemeral-storage`,
	]}
	about({}) == set()
}

test_zero_and_null_are_no_limits if {
	every nothing in ["0", "0Gi", 0, null] {
		count(about({"containers": [object.union(agent, {"resources": {"limits": {"memory": nothing}}})]})) == 1
		count(about({"volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": nothing}}]})) == 1
	}
}

test_docker_engine if {
	about({"containers": [agent, {"name": "engine", "image": "docker:dind", "securityContext": {"privileged": true}}, {"name": "shipper"}]}) == {[
		"template.spec.containers[1].resources", "warning",
		`container "engine" has no limit for memory`,
	]}
}

test_volume_in_memory if {
	about({"volumes": [
		{"name": "kandev-auth", "emptyDir": {"medium": "Memory"}},
		{"name": "disk", "emptyDir": {}},
		{"name": "bounded", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
		{"name": "tmp", "emptyDir": {"medium": "Memory"}},
	]}) == {["template.spec.volumes[3].emptyDir", "info", `volume "tmp" is kept in memory and has no sizeLimit`]}
}

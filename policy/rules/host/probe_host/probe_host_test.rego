package kandev.rules.probe_host_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.probe_host as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"livenessProbe": {"httpGet": {"host": "example.com", "port": 80}}}))
	fixtures.paths(found) == fixtures.everywhere_paths("livenessProbe.httpGet.host")
}

test_every_handler if {
	found := rule.findings with input as review.of(fixtures.template({"containers": [{
		"name": "cache",
		"livenessProbe": {"tcpSocket": {"host": "10.0.0.1", "port": 80}},
		"readinessProbe": {"httpGet": {"host": "10.0.0.1", "port": 80}},
		"startupProbe": {"tcpSocket": {"host": "10.0.0.1", "port": 80}},
		"lifecycle": {
			"postStart": {"httpGet": {"host": "10.0.0.1", "port": 80}},
			"preStop": {"tcpSocket": {"host": "10.0.0.1", "port": 80}},
		},
	}]}))
	fixtures.paths(found) == {
		"template.spec.containers[0].livenessProbe.tcpSocket.host",
		"template.spec.containers[0].readinessProbe.httpGet.host",
		"template.spec.containers[0].startupProbe.tcpSocket.host",
		"template.spec.containers[0].lifecycle.postStart.httpGet.host",
		"template.spec.containers[0].lifecycle.preStop.tcpSocket.host",
	}
}

test_message if {
	found := rule.findings with input as review.of(fixtures.template({"containers": [{
		"name": "cache",
		"lifecycle": {"preStop": {"httpGet": {"host": "127.0.0.1", "port": 80}}},
	}]}))
	{finding.message | some finding in found} == {`for the preStop of container "cache" the node connects to 127.0.0.1`}
}

test_the_pod_itself if {
	count(rule.findings) == 0 with input as review.of(fixtures.everywhere({
		"livenessProbe": {"httpGet": {"host": "", "port": 80}},
		"readinessProbe": {"tcpSocket": {"host": null, "port": 80}},
		"startupProbe": {"exec": {"command": ["true"]}},
		"lifecycle": null,
	}))
}

test_counts_from_1_34 if {
	template := fixtures.everywhere({"livenessProbe": {"httpGet": {"host": "example.com", "port": 80}}})
	count(rule.findings) == 3 with input as review.of(fixtures.on("1.34", template))
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.33", template))
}

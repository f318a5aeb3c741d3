package kandev.rules.host_port_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.host_port as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]}))
	fixtures.paths(found) == fixtures.everywhere_paths("ports[1].hostPort")
}

test_zero_is_no_port if {
	count(rule.findings) == 0 with input as review.of(fixtures.everywhere({"ports": [{"containerPort": 80, "hostPort": 0}]}))
	count(rule.findings) == 0 with input as review.of(fixtures.everywhere({"ports": [{"containerPort": 80, "hostPort": null}]}))
}

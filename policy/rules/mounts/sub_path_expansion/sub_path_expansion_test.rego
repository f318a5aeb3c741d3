package kandev.rules.sub_path_expansion_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.sub_path_expansion as rule

expanding(expression, value) := fixtures.everywhere({
	"env": [{"name": "P", "value": "first"}, {"name": "P", "value": value}, {"name": "Q", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
	"volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "b", "mountPath": "/b", "subPathExpr": expression}],
})

test_steps_back if {
	found := rule.findings with input as review.of(expanding("$(P)", "../../etc"))
	fixtures.paths(found) == fixtures.everywhere_paths("volumeMounts[1].subPathExpr")
}

test_other_refused_results if {
	count(rule.findings) == 3 with input as review.of(expanding("$(P)", "/etc"))
	count(rule.findings) == 3 with input as review.of(expanding("$(P)/x", ".."))
	count(rule.findings) == 3 with input as review.of(expanding("x/$(P)", "a/../.."))
}

test_relative_results if {
	count(rule.findings) == 0 with input as review.of(expanding("$(P)", "team/a..b"))
	count(rule.findings) == 0 with input as review.of(expanding("$$(P)", ".."))
	count(rule.findings) == 0 with input as review.of(expanding("$(Q)", ".."))
}

test_no_environment if {
	count(rule.findings) == 0 with input as review.of(fixtures.everywhere({"volumeMounts": [{"name": "a", "mountPath": "/a", "subPathExpr": "$(P)"}]}))
}

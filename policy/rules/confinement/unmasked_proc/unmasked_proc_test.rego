package kandev.rules.unmasked_proc_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.unmasked_proc as rule

test_every_list if {
	found := rule.findings with input as review.of(fixtures.everywhere({"securityContext": {"procMount": "Unmasked"}}))
	fixtures.paths(found) == fixtures.everywhere_paths("securityContext.procMount")
}

test_default_or_absent if {
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"procMount": "Default"}))
	count(rule.findings) == 0 with input as review.of(fixtures.secured({"procMount": null}))
}

test_user_namespace_counts_from_1_35 if {
	template := fixtures.template({
		"hostUsers": false,
		"containers": [{"name": "kandev-agent", "securityContext": {"procMount": "Unmasked"}}],
	})
	count(rule.findings) == 0 with input as review.of(fixtures.on("1.35", template))
	count(rule.findings) == 1 with input as review.of(fixtures.on("1.34", template))
}

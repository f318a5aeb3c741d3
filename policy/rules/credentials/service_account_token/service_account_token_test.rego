package kandev.rules.service_account_token_test

import data.kandev.lib.fixtures
import data.kandev.rules.service_account_token as rule

test_true if {
	found := rule.findings with input as fixtures.template({"automountServiceAccountToken": true})
	fixtures.paths(found) == {"template.spec.automountServiceAccountToken"}
}

test_false_or_absent if {
	count(rule.findings) == 0 with input as fixtures.template({"automountServiceAccountToken": false})
	count(rule.findings) == 0 with input as fixtures.template({})
}

package kandev.lib.users_test

import data.kandev.lib.users

test_non_root if {
	users.non_root({"effective": {"runAsNonRoot": true}})
	users.non_root({"effective": {"runAsNonRoot": false, "runAsUser": 1000}})
	not users.non_root({"effective": {"runAsUser": 0}})
	not users.non_root({"effective": {}})
}

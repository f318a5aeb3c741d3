package kandev.lib.users_test

import data.kandev.lib.review
import data.kandev.lib.users

non_root(context) if {
	input_ := review.of({"spec": {"securityContext": context, "containers": [{"name": "a"}]}})
	users.non_root(input_.kandev.containers[0]) with input as input_
}

test_non_root if {
	non_root({"runAsNonRoot": true})
	non_root({"runAsNonRoot": false, "runAsUser": 1000})
	not non_root({"runAsUser": 0})
	not non_root({})
}

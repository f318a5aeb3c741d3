package main

template(image) := {"template": {"spec": {"containers": [{"name": "agent", "image": image}]}}}

test_own_registry if {
	count(deny_foreign_image) == 0 with input as template("registry.example/agent:1")
}

test_other_registry if {
	count(deny_foreign_image) == 1 with input as template("docker.io/library/alpine:3")
}

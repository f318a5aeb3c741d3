package kandev.rules.docker_socket_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.docker_socket as rule

# A daemon with extra args that shares volume run with the agent, which has a user; the Pod has the security context.
pair(args, volume, context) := fixtures.template({
	"securityContext": context,
	"containers": [
		{"name": "kandev-agent", "securityContext": {"runAsUser": 1000}, "volumeMounts": [{"name": "run", "mountPath": "/run/docker"}]},
		{
			"name": "engine",
			"securityContext": {"privileged": true},
			"args": array.concat(["dockerd", "--host=unix:///run/docker/docker.sock"], args),
			"volumeMounts": [{"name": "run", "mountPath": "/run/docker"}, {"name": "data", "mountPath": "/var/lib/docker"}],
		},
	],
	"volumes": [{"name": "data", "emptyDir": {}}, object.union({"name": "run"}, volume)],
})

messages(args, volume, context) := {[finding.path, finding.message] | some finding in found} if {
	found := rule.findings with input as review.of(pair(args, volume, context))
}

in_group := ["--group=1000"]

test_group_of_the_image if {
	messages([], {"emptyDir": {}}, {}) == {[
		"template.spec.containers[0].volumeMounts[0]",
		`container "kandev-agent" is not root and not known to be in group docker of the Docker socket`,
	]}
}

test_group_of_another_number if {
	messages(["-G", "2000"], {"emptyDir": {}}, {"fsGroup": 1000}) == {[
		"template.spec.containers[0].volumeMounts[0]",
		`container "kandev-agent" is not root and not known to be in group 2000 of the Docker socket`,
	]}
}

test_client_in_the_group if {
	every context in [{"fsGroup": 1000}, {"runAsGroup": 1000}, {"supplementalGroups": [5, 1000]}] {
		messages(in_group, {"emptyDir": {}}, context) == set()
	}
}

test_root_client_needs_no_group if {
	count(rule.findings) == 0 with input as review.of(json.patch(pair([], {"emptyDir": {}}, {}), [{
		"op": "replace",
		"path": "template/spec/containers/0/securityContext/runAsUser",
		"value": 0,
	}]))
}

test_volume_of_others if {
	messages(in_group, {"persistentVolumeClaim": {"claimName": "x"}}, {"fsGroup": 1000}) == {[
		"template.spec.containers[1].volumeMounts[0]",
		`volume "run" with the Docker socket of container "engine" is no emptyDir`,
	]}
	messages(in_group, {"hostPath": {"path": "/run/docker"}}, {"fsGroup": 1000}) == set()
}

test_volume_of_no_kind_is_an_empty_dir if {
	messages(in_group, {}, {"fsGroup": 1000}) == set()
	messages(in_group, {"emptyDir": null}, {"fsGroup": 1000}) == set()
}

test_socket_that_nobody_shares if {
	count(rule.findings) == 0 with input as review.of(object.union(
		fixtures.template({"volumes": [{"name": "run", "emptyDir": {}}]}),
		fixtures.engine({"volumeMounts": [{"name": "run", "mountPath": "/run"}]}),
	))
}

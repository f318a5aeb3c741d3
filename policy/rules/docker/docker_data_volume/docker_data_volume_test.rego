package kandev.rules.docker_data_volume_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.docker_data_volume as rule

# A daemon with a volume mounted at a path, both from the fields of a volume called data.
engine(mount_path, volume) := fixtures.template({
	"containers": [
		{"name": "kandev-agent"},
		{"name": "engine", "args": ["dockerd"], "securityContext": {"privileged": true}, "volumeMounts": [
			{"name": "other", "mountPath": "/other"},
			{"name": "data", "mountPath": mount_path},
		]},
	],
	"volumes": [{"name": "other", "emptyDir": {}}, object.union({"name": "data"}, volume)],
})

paths(mount_path, volume) := fixtures.paths(found) if {
	found := rule.findings with input as review.of(engine(mount_path, volume))
}

at_mount := {"template.spec.containers[1].volumeMounts[1]"}

test_unbounded if {
	paths("/var/lib/docker", {"emptyDir": {}}) == at_mount
	paths("/var/lib/docker", {"emptyDir": {"sizeLimit": "0"}}) == at_mount
}

test_lasting if {
	paths("/var/lib", {"persistentVolumeClaim": {"claimName": "cache"}}) == at_mount
	paths("/var/lib/docker/", {"hostPath": {"path": "/data"}}) == at_mount
}

test_no_volume if {
	found := rule.findings with input as review.of(engine("/data", {"emptyDir": {"sizeLimit": "1Gi"}}))
	{[finding.path, finding.message] | some finding in found} == {[
		"template.spec.containers[1]",
		`container "engine" keeps Docker's data at /var/lib/docker, where no emptyDir with a sizeLimit is mounted`,
	]}
}

test_bounded if {
	paths("/var/lib/docker", {"emptyDir": {"sizeLimit": "1Gi"}}) == set()
	paths("/var/lib/docker", {"ephemeral": {"volumeClaimTemplate": {}}}) == set()
}

test_rootless_keeps_it_elsewhere if {
	count(rule.findings) == 0 with input as review.of(fixtures.engine({"image": "docker:dind-rootless"}))
}

test_workspace if {
	found := rule.findings with input as review.of(fixtures.engine({
		"args": ["dockerd", "--data-root=/workspace/.docker"],
		"volumeMounts": [{"name": "kandev-workspace", "mountPath": "/workspace"}],
	}))
	fixtures.paths(found) == {"template.spec.containers[1].volumeMounts[0]"}
}

test_comparison_of_a_shell_is_no_flag if {
	found := rule.findings with input as review.of(fixtures.engine({"args": ["sh", "-c", "[ $n -ge 5 ] && dockerd -g /data/docker"]}))
	{finding.message | some finding in found} == {`container "companion" keeps Docker's data at /data/docker, where no emptyDir with a sizeLimit is mounted`}
}

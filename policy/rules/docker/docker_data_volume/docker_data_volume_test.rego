package kandev.rules.docker_data_volume_test

import data.kandev.lib.fixtures
import data.kandev.rules.docker_data_volume as rule

# A daemon with a volume mounted at a path, both from the fields of a volume called data.
engine(mount_path, volume) := fixtures.template({
	"containers": [
		{"name": "kandev-agent"},
		{"name": "engine", "image": "docker:dind", "args": ["dockerd"], "volumeMounts": [
			{"name": "other", "mountPath": "/other"},
			{"name": "data", "mountPath": mount_path},
		]},
	],
	"volumes": [{"name": "other", "emptyDir": {}}, object.union({"name": "data"}, volume)],
})

messages(mount_path, volume) := {[finding.path, finding.message] | some finding in found} if {
	found := rule.findings with input as engine(mount_path, volume)
}

at_mount := "template.spec.containers[1].volumeMounts[1]"

test_unbounded if {
	messages("/var/lib/docker", {"emptyDir": {}}) == {[at_mount, `volume "data", where container "engine" keeps Docker's data, has no sizeLimit`]}
}

test_lasting if {
	want := {[at_mount, `volume "data", where container "engine" keeps Docker's data, is not of this Pod alone`]}
	messages("/var/lib", {"persistentVolumeClaim": {"claimName": "cache"}}) == want
	messages("/var/lib/docker/", {"hostPath": {"path": "/data"}}) == want
}

test_no_volume if {
	messages("/data", {"emptyDir": {"sizeLimit": "1Gi"}}) == {[
		"template.spec.containers[1]",
		`container "engine" keeps Docker's data at /var/lib/docker, where no volume is mounted`,
	]}
}

test_bounded if {
	messages("/var/lib/docker", {"emptyDir": {"sizeLimit": "1Gi"}}) == set()
	messages("/var/lib/docker", {"ephemeral": {"volumeClaimTemplate": {}}}) == set()
}

test_rootless_keeps_it_elsewhere if {
	count(rule.findings) == 0 with input as fixtures.companion({"image": "docker:dind-rootless"})
}

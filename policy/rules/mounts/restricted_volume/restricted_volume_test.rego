package kandev.rules.restricted_volume_test

import data.kandev.lib.fixtures
import data.kandev.lib.review
import data.kandev.rules.restricted_volume as rule

test_other_types if {
	found := rule.findings with input as review.of(fixtures.template({"volumes": [
		{"name": "work", "emptyDir": {}},
		{"name": "models", "nfs": {"server": "nfs.example", "path": "/models"}},
		{"name": "etc", "hostPath": {"path": "/etc"}},
	]}))
	{[finding.path, finding.message] | some finding in found} == {
		["template.spec.volumes[1].nfs", `volume "models" is of type nfs, which the restricted standard does not allow`],
		["template.spec.volumes[2].hostPath", `volume "etc" is of type hostPath, which the restricted standard does not allow`],
	}
}

test_allowed_types if {
	every type in [
		"configMap",
		"csi",
		"downwardAPI",
		"emptyDir",
		"ephemeral",
		"image",
		"persistentVolumeClaim",
		"projected",
		"secret",
	] {
		count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "x", type: {}}]}))
	}
}

test_allowed_type_beside_another if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "x", "nfs": {}, "emptyDir": {}}]}))
}

test_no_type_is_an_empty_dir if {
	count(rule.findings) == 0 with input as review.of(fixtures.template({"volumes": [{"name": "a"}, {"name": "b", "nfs": null}]}))
}

test_null_is_no_type if {
	found := rule.findings with input as review.of(fixtures.template({"volumes": [{"emptyDir": null, "nfs": {}}]}))
	{[finding.path, finding.message] | some finding in found} == {[
		"template.spec.volumes[0].nfs",
		`volume "" is of type nfs, which the restricted standard does not allow`,
	]}
}

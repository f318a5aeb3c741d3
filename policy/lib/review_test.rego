package kandev.lib.review_test

import data.kandev.lib.fixtures
import data.kandev.lib.review

# What a document is read as.
read(document) := review.of(document).kandev

containers(document) := [[container.path, container.name] | some container in read(document).containers]

test_containers_of_every_list if {
	containers(fixtures.everywhere({})) == [
		["template.spec.initContainers[0]", "prepare"],
		["template.spec.containers[0]", "kandev-agent"],
		["template.spec.ephemeralContainers[0]", "debugger"],
	]
}

test_broken_containers_do_no_harm if {
	containers({"spec": {"containers": [null, "x", {"image": "y"}, {"name": 7}], "initContainers": null, "ephemeralContainers": {"a": {}}}}) == [
		["spec.containers[2]", ""],
		["spec.containers[3]", ""],
	]
	containers({"spec": {"containers": {"a": {}}}}) == []
	containers({}) == []
	containers({"template": {"spec": 7}}) == []
}

test_scopes if {
	pod := {"metadata": {"annotations": {"a": "b"}}, "spec": {"securityContext": {"runAsGroup": 1, "fsGroup": 1}, "containers": [{"name": "a"}]}}
	read(pod).scopes == {
		"spec": {"path": "spec", "name": "", "subject": "the Pod", "contextPath": "spec.securityContext"},
		"spec.containers[0]": read(pod).containers[0],
	}
	some companion in read(pod).companions
	companion == {
		"path": "spec.containers[0]", "name": "a", "subject": `container "a"`, "commandLine": "",
		"contextPath": "spec.containers[0]", "privileged": false, "root": false, "nonRoot": false,
	}
	read(pod).specs == {"spec": pod.spec, "spec.containers[0]": {"name": "a"}}
	[read(pod).path, read(pod).metadataPath, read(pod).annotations] == ["spec", "metadata", {"a": "b"}]
}

test_agents if {
	template := fixtures.companion({})
	[container.name | some container in read(template).agents] == ["kandev-agent"]
	[container.name | some container in read(template).companions] == ["companion"]
	other := object.union(template, {"kandev": {"mainContainer": "companion"}})
	[container.name | some container in read(other).agents] == ["companion"]
	read(other).mainContainer == "companion"
}

test_settings_of_the_session_stay if {
	read({"kandev": {"platform": "linux/arm64"}}).platform == "linux/arm64"
	read({"kandev": "x"}).mainContainer == "kandev-agent"
}

test_effective if {
	template := fixtures.template({
		"securityContext": {"runAsUser": 1000, "runAsNonRoot": true, "fsGroup": null, "seLinuxOptions": {"user": "a", "role": "b"}},
		"containers": [{
			"name": "a",
			"securityContext": {"runAsUser": 0, "runAsNonRoot": null, "seLinuxOptions": {"user": "c"}},
		}],
	})
	read(template).effective == {"template.spec.containers[0]": {"runAsUser": 0, "runAsNonRoot": true, "seLinuxOptions": {"user": "c"}}}
}

# Whether a container whose Pod has a security context is known to run as root, and not to.
user(context) := [container.root, container.nonRoot] if {
	container := read({"spec": {"securityContext": context, "containers": [{}]}}).containers[0]
}

test_user if {
	user({"runAsNonRoot": true}) == [false, true]
	user({"runAsNonRoot": false, "runAsUser": 1000}) == [false, true]
	user({"runAsUser": 0}) == [true, false]
	user({"runAsUser": 0, "runAsNonRoot": true}) == [true, true]
	user({}) == [false, false]
	user({"runAsUser": "1000"}) == [false, false]
}

test_unset if {
	template := fixtures.template({"containers": [
		{"name": "none"},
		{"name": "null", "securityContext": {"allowPrivilegeEscalation": null, "runAsNonRoot": null, "seccompProfile": null, "capabilities": {"drop": null}}},
		{"name": "some", "securityContext": {"allowPrivilegeEscalation": false, "runAsNonRoot": false, "seccompProfile": {}, "capabilities": {"drop": ["all"]}}},
		{"name": "all", "securityContext": {"allowPrivilegeEscalation": true, "runAsNonRoot": true, "seccompProfile": {}, "capabilities": {"drop": ["X", "ALL"]}}},
	]})
	{setting: [container.name | some container in lacking] | some setting, lacking in read(template).unset} == {
		"allowPrivilegeEscalation": ["none", "null"],
		"digest": [],
		"fsGroup": [],
		"sizeLimit": [],
		"dropAll": ["none", "null", "some"],
		"runAsNonRoot": ["none", "null"],
		"seccompProfile": ["none", "null"],
	}
}

lacking(context) := {setting |
	some setting, containers in read(fixtures.secured_pod(context)).unset
	count(containers) > 0
}

test_unset_where_the_pod_says if {
	lacking({"fsGroup": 1}) == {"allowPrivilegeEscalation", "dropAll", "runAsNonRoot", "seccompProfile"}
	lacking({"runAsNonRoot": true, "seccompProfile": {"type": "Localhost"}, "fsGroup": 1}) == {"allowPrivilegeEscalation", "dropAll"}
	lacking({"runAsNonRoot": false, "seccompProfile": {"type": "Unconfined"}, "fsGroup": 1}) == lacking({"fsGroup": 1})
}

test_pod_s_own_are_unset if {
	read({"spec": {}}).unset.fsGroup == ["spec"]
	read(fixtures.secured_pod({"fsGroup": null})).unset.fsGroup == ["template.spec"]
	read(fixtures.secured_pod({"fsGroup": 0})).unset.fsGroup == []
	volumes := [
		{"name": "kandev-auth", "emptyDir": {"medium": "Memory"}},
		null,
		{"name": "disk", "emptyDir": {"medium": ""}},
		{"name": "sized", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
		{"name": "memory", "emptyDir": {"medium": "Memory"}},
	]
	read(fixtures.template({"volumes": volumes})).unset.sizeLimit == [{"name": "memory", "path": "template.spec.volumes[4].emptyDir"}]
}

# Which of the Pod and of containers with some profiles are unconfined.
unconfined(kind, profiles) := [scope.path | some scope in read(pod).unconfined[kind]] if {
	pod := {"spec": {
		"securityContext": {kind: {"type": "Unconfined"}},
		"containers": [{"securityContext": {kind: profile}} | some profile in profiles],
	}}
}

test_unconfined if {
	profiles := [null, 7, {}, {"type": null}, {"type": "Unconfined"}, {"type": "RuntimeDefault"}, {"type": "Localhost"}]
	every kind in ["appArmorProfile", "seccompProfile"] {
		unconfined(kind, profiles) == ["spec", "spec.containers[2]", "spec.containers[3]", "spec.containers[4]"]
	}
}

test_given_up if {
	settings := {"runAsUser": 0, "runAsNonRoot": false, "allowPrivilegeEscalation": true}
	others := {"runAsUser": 1, "runAsNonRoot": true, "allowPrivilegeEscalation": null}
	pod := {"spec": {"securityContext": settings, "containers": [{"securityContext": others}, {"securityContext": settings}]}}
	every setting, _ in settings {
		[scope.path | some scope in read(pod).unconfined[setting]] == ["spec", "spec.containers[1]"]
	}
}

test_adds if {
	container := {"name": "a", "securityContext": {"capabilities": {"add": ["KILL", null]}}}
	pod := read({"spec": {"containers": [container, {"securityContext": {"capabilities": {"add": {"a": "KILL"}}}}]}})
	pod.adds == [{"capability": capability, "container": pod.containers[0], "path": sprintf("spec.containers[0].securityContext.capabilities.add[%d]", [index])} |
		some index, capability in ["KILL", null]
	]
}

test_grants if {
	mounts := [{"name": "kandev-auth"}, null, {"name": "kandev-workspace", "readOnly": true}, {"name": "kandev-workspace", "readOnly": null}]
	template := fixtures.template({"containers": [{"name": "kandev-agent", "volumeMounts": mounts}, {"name": "a", "volumeMounts": mounts}]})
	read(template).grants == [{"companion": read(template).companions[0], "path": "template.spec.containers[1].volumeMounts[3]"}]
}

test_without_nulls if {
	given := {"a": null, "b": [null, {"c": null, "x/y": null, "d": {"e": null, "f": 0}}], "1": {"0": null}}
	review.without_nulls(given) == {"b": [null, {"d": {"f": 0}}], "1": {}}
}

test_bounds if {
	every quantity in ["1", "0.5Gi", "+1", "00.01", "1e-9", 1, 0.5, 7e30] {
		review.bounds(quantity)
	}
	every quantity in ["0", "0Gi", "+0", "0.00", "0e5", "", "-1", "Gi", "x1", 0, 0.0, null, true, ["1"], {"1": 1}] {
		not review.bounds(quantity)
	}
}

test_unlimited if {
	limits := [null, {"memory": "1Gi"}, {"memory": null, "ephemeral-storage": "1Gi"}, {"memory": false}]
	agents := [{"name": "kandev-agent", "resources": {"limits": limit}} | some limit in limits]
	[agent.unlimited | some agent in read({"spec": {"containers": agents}}).agents] == [["ephemeral-storage", "memory"], ["ephemeral-storage"], ["memory"], ["ephemeral-storage", "memory"]]
	read(fixtures.template({"resources": {"limits": {"memory": "1Gi"}}})).agents[0].unlimited == ["ephemeral-storage"]
}

test_pinned if {
	images := ["a", "", "a@sha256:b", 7, "c:1@x"]
	template := fixtures.template({"containers": array.concat([{"image": image} | some image in images], [{"name": "none"}])})
	[container.path | some container in read(template).unset.digest] == ["template.spec.containers[0]"]
}

test_lists if {
	template := fixtures.everywhere({"securityContext": {"privileged": true}})
	[container.name | some container in read(template).initContainers] == ["prepare"]
	[container.name | some container in read(template).privileged] == ["prepare", "kandev-agent", "debugger"]
	read(fixtures.template({})).privileged == []
}

test_volumes_by_name if {
	volumes := [{"name": "a"}, {"name": "b", "emptyDir": {}}, {"name": "a", "hostPath": {}}, {"name": 7}, null]
	read({"spec": {"volumes": volumes}}).volumes == {"a": {"name": "a", "hostPath": {}}, "b": {"name": "b", "emptyDir": {}}}
	read({"spec": {"volumes": null}}).volumes == {}
}

test_command_line if {
	container := {"command": ["sh", 7, "-c"], "args": ["echo $(A) $$(A)"], "env": [{"name": "A", "value": "x"}]}
	read({"spec": {"containers": [container]}}).containers[0].commandLine == "sh -c echo x $(A)"
}

test_minor if {
	read({}).minor == 1000
	read({"kandev": {"kubeVersion": "1.34"}}).minor == 34
	read({"kandev": {"kubeVersion": "v1.34.2"}}).minor == 34
	read({"kandev": {"kubeVersion": "latest"}}).minor == 1000
}

test_windows_counts_from_1_25 if {
	template := fixtures.template({"os": {"name": "windows"}})
	read(template).windows
	read(fixtures.on("1.25", template)).windows
	not read(fixtures.on("1.24", template)).windows
	not read(fixtures.template({"os": {"name": "linux"}})).windows
}

test_user_namespace_counts_from_1_35 if {
	template := fixtures.template({"hostUsers": false})
	read(template).contained
	read(fixtures.on("1.35", template)).contained
	not read(fixtures.on("1.34", template)).contained
	not read(fixtures.template({"hostUsers": null})).contained
}

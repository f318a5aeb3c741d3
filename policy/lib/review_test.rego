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
	pod := {"metadata": {"annotations": {"a": "b"}}, "spec": {"securityContext": {"fsGroup": 1}, "containers": [{"name": "a"}]}}
	some scope in read(pod).scopes
	scope == {
		"path": "spec", "name": "", "subject": "the Pod",
		"context": {"fsGroup": 1}, "contextPath": "spec.securityContext",
	}
	some companion in read(pod).companions
	companion == {
		"path": "spec.containers[0]", "name": "a", "subject": `container "a"`, "commandLine": "",
		"context": {}, "contextPath": "spec.containers[0]", "privileged": false, "effective": {"fsGroup": 1},
	}
	read(pod).specs == {"spec.containers[0]": {"name": "a"}}
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
	container := read(template).containers[0]
	container.effective == {"runAsUser": 0, "runAsNonRoot": true, "seLinuxOptions": {"user": "c"}}
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
		"dropAll": ["none", "null", "some"],
		"runAsNonRoot": ["none", "null"],
		"seccompProfile": ["none", "null"],
	}
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

package kandev.lib.pod_test

import data.kandev.lib.fixtures
import data.kandev.lib.pod

test_containers_of_every_list if {
	found := pod.containers with input as fixtures.everywhere({})
	{container.path | some container in found} == {
		"template.spec.initContainers[0]",
		"template.spec.containers[0]",
		"template.spec.ephemeralContainers[0]",
	}
}

test_broken_containers_do_no_harm if {
	found := pod.containers with input as {"spec": {"containers": [null, "x", {"image": "y"}], "initContainers": null}}
	{[container.path, container.name] | some container in found} == {["spec.containers[2]", ""]}
}

test_pod_document if {
	found := pod.scopes with input as {"spec": {"containers": [{"name": "a"}]}}
	[scope.path | some scope in found] == ["spec", "spec.containers[0]"]
}

test_no_spec if {
	count(pod.containers) == 0 with input as {}
}

test_windows_counts_from_1_25 if {
	template := fixtures.template({"os": {"name": "windows"}})
	pod.windows with input as template
	pod.windows with input as fixtures.on("1.25", template)
	not pod.windows with input as fixtures.on("1.24", template)
	not pod.windows with input as fixtures.template({"os": {"name": "linux"}})
}

test_user_namespace_counts_from_1_35 if {
	template := fixtures.template({"hostUsers": false})
	pod.contained with input as template
	pod.contained with input as fixtures.on("1.35", template)
	not pod.contained with input as fixtures.on("1.34", template)
	not pod.contained with input as fixtures.template({"hostUsers": null})
}

test_main_container if {
	pod.main_container == "kandev-agent" with input as {}
	pod.main_container == "agent" with input as {"kandev": {"mainContainer": "agent"}}
}

test_setting if {
	container := {"spec": {"securityContext": {"runAsUser": 0, "runAsNonRoot": null}}}
	in_pod := {"spec": {"securityContext": {"runAsUser": 1000, "runAsNonRoot": false}}}
	pod.setting(container, "runAsUser") == 0 with input as in_pod
	pod.setting(container, "runAsNonRoot") == false with input as in_pod
	not pod.setting(container, "fsGroup") with input as in_pod
}

test_non_root if {
	pod.non_root({"spec": {}}) with input as {"spec": {"securityContext": {"runAsNonRoot": true}}}
	pod.non_root({"spec": {"securityContext": {"runAsUser": 1000}}}) with input as {"spec": {}}
	not pod.non_root({"spec": {"securityContext": {"runAsUser": 0}}}) with input as {"spec": {"securityContext": {"runAsUser": 1000}}}
	not pod.non_root({"spec": {}}) with input as {"spec": {}}
}

test_writable_grants if {
	mounts := {"volumeMounts": [
		{"name": "kandev-workspace", "mountPath": "/workspace", "readOnly": true},
		{"name": "other", "mountPath": "/o"},
		{"name": "kandev-workspace", "mountPath": "/workspace"},
	]}
	found := pod.writable_grants with input as {"spec": {"containers": [object.union({"name": "kandev-agent"}, mounts), object.union({"name": "c"}, mounts)]}}
	[[grant.path, grant.container.name] | some grant in found] == [["spec.containers[1].volumeMounts[2]", "c"]]
}

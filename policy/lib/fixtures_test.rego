# METADATA
# title: Inputs for the tests of rules
package kandev.lib.fixtures

# A PodTemplate whose Pod has one container, the agent, and the fields of spec beside or instead.
template(spec) := {
	"apiVersion": "v1",
	"kind": "PodTemplate",
	"template": {"spec": object.union({"containers": [{"name": "kandev-agent"}]}, spec)},
}

# A PodTemplate whose Pod has the agent and a companion with the fields.
companion(fields) := template({"containers": [{"name": "kandev-agent"}, object.union({"name": "companion"}, fields)]})

# A PodTemplate whose Pod has the agent and a Docker engine with the fields.
engine(fields) := companion(object.union({"image": "docker:27-dind", "securityContext": {"privileged": true}}, fields))

# A PodTemplate whose agent has a security context.
secured(context) := template({"containers": [{"name": "kandev-agent", "securityContext": context}]})

# A PodTemplate whose Pod has a security context.
secured_pod(context) := template({"securityContext": context})

# A PodTemplate whose Pod has annotations.
annotated(annotations) := {"template": {
	"metadata": {"annotations": annotations},
	"spec": {"containers": [{"name": "kandev-agent"}]},
}}

# A PodTemplate with a container of each of the three lists that has the fields.
everywhere(fields) := template({
	"containers": [object.union({"name": "kandev-agent"}, fields)],
	"initContainers": [object.union({"name": "prepare"}, fields)],
	"ephemeralContainers": [object.union({"name": "debugger"}, fields)],
})

# Where everywhere() is found.
everywhere_paths(key) := {sprintf("template.spec.%s[0].%s", [list, key]) |
	some list in ["containers", "initContainers", "ephemeralContainers"]
}

# An input for one Kubernetes version.
on(version, input_) := object.union(input_, {"kandev": {"kubeVersion": version}})

# An input with what the configuration tells rules.
told(parameters, input_) := object.union(input_, {"kandev": {"parameters": parameters}})

paths(findings) := {finding.path | some finding in findings}

package main

deny_foreign_image contains msg if {
	some container in input.template.spec.containers
	not startswith(container.image, "registry.example/")
	msg := sprintf("container %q takes its image from %s, not from registry.example", [container.name, container.image])
}

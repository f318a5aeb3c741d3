# METADATA
# title: Environment variables in a container's fields
package kandev.lib.variables

# text with each $(NAME) replaced whose value stands literally in the container, as the kubelet does; $$(NAME) is no
# reference.
expand(text, container) := strings.replace_n(values(container), text)

# What stands for each reference; the last of two equal names wins.
values(container) := object.union({"$$": "$"}, object.union_n([{reference: variable.value} |
	is_array(container.env)
	some variable in container.env
	is_string(variable.name)
	is_string(variable.value)
	reference := sprintf("$(%s)", [variable.name])
]))

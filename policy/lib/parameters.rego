# METADATA
# title: What the configuration tells a rule
package kandev.lib.parameters

# The strings of a rule's parameter; none where the configuration gives none.
strings(rule, name) := object.get(input, ["kandev", "parameters", rule, name], [])

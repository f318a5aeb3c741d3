# METADATA
# title: The Kubernetes version that the Pod is meant for
package kandev.lib.kubernetes

# The minor version; when none is asked for, a number above every version that a rule tells apart.
default minor := 1000

minor := to_number(split(input.kandev.kubeVersion, ".")[1])

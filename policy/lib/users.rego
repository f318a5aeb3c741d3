# METADATA
# title: Users of containers
package kandev.lib.users

# The container cannot run as root, or is told not to. Nothing is known where the image alone decides.
non_root(container) if input.kandev.effective[container.path].runAsNonRoot == true

non_root(container) if input.kandev.effective[container.path].runAsUser > 0

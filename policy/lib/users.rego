# METADATA
# title: Users of containers
package kandev.lib.users

# The container cannot run as root, or is told not to. Nothing is known where the image alone decides.
non_root(container) if container.effective.runAsNonRoot == true

non_root(container) if container.effective.runAsUser > 0

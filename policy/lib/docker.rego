# METADATA
# title: Where a Docker engine is told something
package kandev.lib.docker

# Where an engine's command or args say something, or else the image that has it as its entrypoint.
place_of(container, text) := array.concat(
	[sprintf("%s.%s[%d]", [container.path, list, index]) |
		some list in ["command", "args"]
		contains(container.spec[list][index], text)
	],
	[sprintf("%s.image", [container.path])],
)[0]

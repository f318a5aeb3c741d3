# METADATA
# title: Where a Docker engine is told something
package kandev.lib.docker

# Where the command or args of a container say something, or else the image that has it as its entrypoint.
place_of(path, text) := array.concat(
	[sprintf("%s.%s[%d]", [path, list, index]) |
		some list in ["command", "args"]
		contains(input.kandev.specs[path][list][index], text)
	],
	[sprintf("%s.image", [path])],
)[0]

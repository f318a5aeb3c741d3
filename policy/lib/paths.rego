# METADATA
# title: Paths as the node resolves them
package kandev.lib.paths

# An absolute path without empty, "." and ".." segments, and with a slash at its end so that one path lies within another
# when it starts with it: //etc is /etc/, /var/run/../run/docker.sock is /var/run/docker.sock/. The API server refuses
# ".."; a path of many segments with one counts as the root, the most that it could be, rather than cost time.
clean(path) := resolved if {
	not contains(path, "..")
	resolved := joined([segment | some segment in split(path, "/"); not segment in {"", "."}])
} else := resolved if {
	segments := split(path, "/")
	count(segments) <= 32
	steps := [step(segment) | some segment in segments]
	resolved := joined([segment |
		some index, segment in segments
		steps[index] == 1
		not taken_back(steps, index)
	])
} else := "/"

joined(segments) := sprintf("/%s/", [concat("/", segments)]) if {
	count(segments) > 0
} else := "/"

# A later ".." takes the segment at index back: up to some place after it there are more ".." than names.
taken_back(steps, index) if {
	some end in numbers.range(index + 2, count(steps))
	sum(array.slice(steps, index + 1, end)) < 0
}

# How far a segment leads down.
step(segment) := -1 if {
	segment == ".."
} else := 0 if {
	segment in {"", "."}
} else := 1

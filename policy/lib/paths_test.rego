package kandev.lib.paths_test

import data.kandev.lib.paths

test_clean if {
	every dirty, clean in {
		"/": "/",
		"//": "/",
		"/..": "/",
		"//etc/": "/etc/",
		"/./etc": "/etc/",
		"/etc/../etc": "/etc/",
		"/a/b/../../etc": "/etc/",
		"/../../etc": "/etc/",
		"/a/../b/../etc/x": "/etc/x/",
		"/a/./b//..": "/a/",
		"/a..b": "/a..b/",
		"/var/run/../run/docker.sock": "/var/run/docker.sock/",
	} {
		paths.clean(dirty) == clean
	}
}

test_endless if {
	paths.clean(concat("/", ["..", concat("/", ["a" | some _ in numbers.range(1, 100)])])) == "/"
	paths.clean(concat("/", ["", concat("/", ["a" | some _ in numbers.range(1, 100)])])) != "/"
}

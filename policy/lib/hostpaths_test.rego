package kandev.lib.hostpaths_test

import data.kandev.lib.hostpaths

test_dangerous if {
	every path in [
		"/",
		"//etc/",
		"/dev/kvm",
		"/var",
		"/var/lib",
		"/var/lib/kubelet/pods",
		"/var/run",
		"/var/run/docker.sock",
		"/var/run/../run/docker.sock",
		"/run/containerd/containerd.sock",
		"/data/../etc",
	] {
		hostpaths.danger(path)
	}
}

test_harmless if {
	every path in ["/data", "/etc/localtime", "/etcetera", "/home/x", "/opt", "/tmp", "/var/run/my-app"] {
		not hostpaths.danger(path)
	}
}

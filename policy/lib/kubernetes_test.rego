package kandev.lib.kubernetes_test

import data.kandev.lib.kubernetes

test_minor if {
	kubernetes.minor == 34 with input as {"kandev": {"kubeVersion": "1.34"}}
	kubernetes.minor == 34 with input as {"kandev": {"kubeVersion": "v1.34.2"}}
}

test_newest_when_unknown if {
	kubernetes.minor == 1000 with input as {}
	kubernetes.minor == 1000 with input as {"kandev": {"kubeVersion": "latest"}}
}

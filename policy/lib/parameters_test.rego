package kandev.lib.parameters_test

import data.kandev.lib.parameters

test_given if {
	session := {"parameters": {"host-path": {"allowed": ["/data"]}}}
	parameters.strings("host-path", "allowed") == ["/data"] with input as {"kandev": session}
	parameters.strings("host-path", "denied") == [] with input as {"kandev": session}
	parameters.strings("host-port", "allowed") == [] with input as {"kandev": session}
}

test_none_given if {
	parameters.strings("host-path", "allowed") == [] with input as {}
	parameters.strings("host-path", "allowed") == [] with input as {"kandev": {"kubeVersion": "1.36"}}
}

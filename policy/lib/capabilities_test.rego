package kandev.lib.capabilities_test

import data.kandev.lib.capabilities

test_canonical if {
	every name in ["SYS_ADMIN", "CAP_SYS_ADMIN", "sys_admin", "cap_sys_admin"] {
		capabilities.canonical(name) == "SYS_ADMIN"
	}
}

test_canonical_of_null if {
	capabilities.canonical(null) == ""
}

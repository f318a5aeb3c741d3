# METADATA
# title: Linux capabilities by Kubernetes' names
package kandev.lib.capabilities

# Those that the baseline Pod Security Standard lets a container add.
baseline := {
	"AUDIT_WRITE",
	"CHOWN",
	"DAC_OVERRIDE",
	"FOWNER",
	"FSETID",
	"KILL",
	"MKNOD",
	"NET_BIND_SERVICE",
	"SETFCAP",
	"SETGID",
	"SETPCAP",
	"SETUID",
	"SYS_CHROOT",
}

# Runtimes read names in any case, some with the CAP_ of capabilities(7): cap_sys_admin is SYS_ADMIN. Every value has one,
# or an expression about a list that holds null would be undefined: the API server reads an empty name there.
canonical(name) := trim_prefix(upper(name), "CAP_") if {
	is_string(name)
} else := ""

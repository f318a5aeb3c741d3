package podrules

// The Kubernetes minors whose rules are known.
const (
	OldestMinor = 34
	NewestMinor = 37
)

// since reports whether the server meant is of this minor or a later one. Fields whose feature gate is off in an older
// one are dropped there before anything looks at them.
func (c *checker) since(minor int) bool {
	return c.options.Minor == 0 || c.options.Minor >= minor
}

// The minors from which on a server reads what its predecessors dropped or judged otherwise, each after the feature gate
// that turned it on.
const (
	envFiles              = 35 // fileKeyRef
	imageVolumes          = 35
	hostnameOverrides     = 35
	containerRestartRules = 35 // restartPolicy of an ordinary container, and restartPolicyRules
	restartAllContainers  = 36 // and restartPolicyRules of a sidecar
	strictIPs             = 36
	initResizePolicy      = 36 // no gate: a rule that came with this minor
	podResourceDefaults   = 37 // PodLevelResourcesFixDefaulting
	seLinuxMount          = 37
	clusterTrustBundles   = 37
	podCertificates       = 37
	plainHostFields       = 37 // no gate: errors name shareProcessNamespace where it stands
)

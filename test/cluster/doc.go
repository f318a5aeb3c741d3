// Package cluster runs real Kubernetes clusters for tests, on one machine and without any service: etcd and an
// API server of a chosen minor, without root, within seconds; and, as root on Linux, a whole node.
//
// The programs are built from their Go modules, which the modules below versions name, once for a version, and
// kept below the user's cache directory.
//
//	func TestPod(t *testing.T) {
//		c := cluster.Start(t, cluster.Options{Version: "1.34"})
//		client := kubernetes.NewForConfigOrDie(c.Config())
//		...
//	}
//
// Nothing that a cluster starts outlives it, and a cluster does not outlive the process that started it, however
// that ends. Clusters run side by side, also those of several processes.
//
// README.md tells how it is done and what a node has.
package cluster

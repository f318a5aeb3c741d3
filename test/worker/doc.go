// Package worker holds the tests of k8s/worker-images/full that need no cluster: its scripts under every shell, its template
// and README beside what kandev-podlint says of them, its pins. test/docker runs the recipe on a node. The package exports
// nothing.
package worker

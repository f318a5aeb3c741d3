// Package docker holds the acceptance of k8s/worker-images/full: sessions of its own template on a real node, with a Docker
// engine in each Pod. It exports nothing.
//
// The tests need root on Linux, what test/cluster needs for a node, and debootstrap. No registry is needed: the images are
// assembled from Debian's packages and kept below the user's cache directory.
package docker

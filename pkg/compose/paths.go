package compose

import (
	"path"
	"strings"
)

// CleanPath is the place at which a container runtime mounts a path: absolute, without dots, and with
// /var/run as what it is in nearly every image, a link to /run.
func CleanPath(p string) string {
	p = path.Clean("/" + p)
	if p == "/var/run" || strings.HasPrefix(p, "/var/run/") {
		return strings.TrimPrefix(p, "/var")
	}
	return p
}

// OwnedPathAround returns the owned path that a path is, or lies in; "" if none.
func OwnedPathAround(p string) string {
	p = CleanPath(p)
	for _, owned := range OwnedPaths() {
		if p == owned || strings.HasPrefix(p, owned+"/") {
			return owned
		}
	}
	return ""
}

// OwnedPathsBelow returns the owned paths that lie in a path, not counting the path itself.
func OwnedPathsBelow(p string) []string {
	p = CleanPath(p)
	var out []string
	for _, owned := range OwnedPaths() {
		if p == "/" || strings.HasPrefix(owned, p+"/") {
			out = append(out, owned)
		}
	}
	return out
}

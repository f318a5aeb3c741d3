//go:build !unix

package cli

import "os"

// notifyResize tells nothing where no signal does: the command keeps the size that the terminal had.
func notifyResize(chan<- os.Signal) {}

package supervise

import (
	"io"
	"net"
)

// forward carries connections into the node. The listener was made on the host and stays there, whichever
// namespace the process that accepts from it has; what is dialled is in the node.
func forward(listener net.Listener, address string) {
	for {
		outside, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = outside.Close() }()
			inside, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer func() { _ = inside.Close() }()
			done := make(chan struct{})
			go func() {
				defer close(done)
				copyHalf(inside, outside)
			}()
			copyHalf(outside, inside)
			<-done
		}()
	}
}

// copyHalf passes on the end of a stream, so that each direction ends by itself.
func copyHalf(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.(*net.TCPConn).CloseWrite()
}

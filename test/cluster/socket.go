package cluster

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// reservePort binds a free port of loopback and does not listen: another process of this user that sets the same
// option can listen on it, also again after a restart, and none can get it by chance.
func reservePort() (*os.File, int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, 0, err
	}
	unix.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), "socket")
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, address.(*unix.SockaddrInet4).Port, nil
}

// listen returns a socket that listens on a free port of loopback.
func listen() (*os.File, int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = listener.Close() }() // File returns a copy
	f, err := listener.(*net.TCPListener).File()
	return f, listener.Addr().(*net.TCPAddr).Port, err
}

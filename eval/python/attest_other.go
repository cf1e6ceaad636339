//go:build unix && !linux

package python

func attest(int) error { return nil }

// receive reads from the socket fd; this system does not name the sender.
func receive(fd int, buf []byte, _ bool) (n int, pid int32, err error) {
	n, err = read(fd, buf)
	return n, 0, err
}

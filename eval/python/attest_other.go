//go:build unix && !linux

package python

func attest(int) error { return nil }

// receive reads from the socket fd; here nobody says which process the bytes are from.
func receive(fd int, buf []byte) (n int, pid int32, err error) {
	n, err = read(fd, buf)
	return n, 0, err
}

package python

import (
	"os"

	"golang.org/x/sys/unix"
)

// newPipe returns the ends of a pipe, newSockets those of a pair of sockets. No process that is started meanwhile
// inherits them.
func newPipe() (ends [2]int, err error) {
	err = unix.Pipe2(ends[:], unix.O_CLOEXEC)
	return ends, os.NewSyscallError("pipe2", err)
}

func newSockets() (ends [2]int, err error) {
	ends, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return ends, os.NewSyscallError("socketpair", err)
}

// attest has the kernel name the sender of whatever arrives on a socket.
func attest(fd int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1))
}

// receive reads from the socket fd, and returns the process that sent the bytes.
func receive(fd int, buf []byte) (n int, pid int32, err error) {
	var oob [64]byte
	for {
		n, oobn, _, _, err := unix.Recvmsg(fd, buf, oob[:unix.CmsgSpace(unix.SizeofUcred)], unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		messages, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil || len(messages) == 0 {
			return n, 0, nil
		}
		cred, err := unix.ParseUnixCredentials(&messages[0])
		if err != nil {
			return n, 0, nil
		}
		return n, cred.Pid, nil
	}
}

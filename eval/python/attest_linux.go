package python

import (
	"os"

	"golang.org/x/sys/unix"
)

// attest has the kernel name the sender of whatever arrives on a socket.
func attest(fd int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1))
}

// receive reads from the socket fd, whose other end is hostile, and returns the process that sent the bytes if the
// socket is attested. Descriptors sent along are closed: each would take a place in this process, and keep what it is
// open for. A plain read leaves them to the kernel, which closes them.
func receive(fd int, buf []byte, attested bool) (n int, pid int32, err error) {
	if !attested {
		n, err = unix.Read(fd, buf)
		return n, 0, err
	}
	var oob [128]byte
	n, oobn, _, _, err := unix.Recvmsg(fd, buf, oob[:unix.CmsgSpace(unix.SizeofUcred)], unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, 0, err
	}
	messages, _ := unix.ParseSocketControlMessage(oob[:oobn]) // without one the sender is unknown
	for i := range messages {
		if cred, err := unix.ParseUnixCredentials(&messages[i]); err == nil {
			pid = cred.Pid
		} else if rights, err := unix.ParseUnixRights(&messages[i]); err == nil {
			closeAll(rights)
		}
	}
	return n, pid, nil
}

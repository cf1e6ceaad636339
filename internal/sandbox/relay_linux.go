package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listenIn has the relay listen in the network namespace of the process at the gate. A process that joins the namespace
// brings its loopback up, and sends the socket to this one.
func (r *Relay) listenIn(p *Plan, pid int) error {
	if r == nil || !r.inside {
		return nil
	}
	l, err := p.listenAt(pid, r.address)
	if err != nil {
		return fmt.Errorf("making a network of one socket: %w", err)
	}
	return r.serve(l)
}

func (p *Plan) listenAt(pid int, address string) (net.Listener, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	// In the other process the socket takes the place of this descriptor, whose number is known beforehand.
	slot, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open", err)
	}
	defer unix.Close(slot)
	var s script
	leave, err := s.join(p, pid, UserNS, NetNS)
	defer leave()
	if err != nil {
		return nil, err
	}
	if err := foreign(pid); err != nil {
		return nil, err
	}
	if err := s.listen(slot, pair[1], address); err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	return receiveListener(pair[0])
}

// foreign returns an error unless the process has a network namespace other than this one's. Its number may have become
// another process's, and nothing may change the network of this machine.
func foreign(pid int) error {
	var own, its unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &own); err != nil {
		return os.NewSyscallError("stat", err)
	}
	if err := unix.Stat(fmt.Sprintf("/proc/%d/ns/net", pid), &its); err != nil {
		return os.NewSyscallError("stat", err)
	}
	if own.Dev == its.Dev && own.Ino == its.Ino {
		return errors.New("the process is in the network of this machine")
	}
	return nil
}

// listen adds the calls that bring loopback up, listen at an address and send the socket through another. The listening
// one is made as slot.
func (s *script) listen(slot, through int, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	name := &unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: [4]byte{127, 0, 0, 1}}
	*(*[2]byte)(unsafe.Pointer(&name.Port)) = [2]byte{byte(number >> 8), byte(number)}
	rights, content := unix.UnixRights(slot), []byte{0}
	message := &unix.Msghdr{Iov: &unix.Iovec{Base: &content[0]}, Iovlen: 1, Control: &rights[0]}
	message.Iov.SetLen(1)
	message.SetControllen(len(rights))
	fd := uintptr(slot)
	took := newCall("keeping it", unix.SYS_DUP3, 0, fd, 0)
	took.chained = true
	s.inner = append(s.inner,
		newCall("making a socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0), took,
		newCall("bringing loopback up", unix.SYS_IOCTL, fd, unix.SIOCSIFFLAGS, s.hold(unsafe.Pointer(lo))),
		newCall("binding it", unix.SYS_BIND, fd, s.hold(unsafe.Pointer(name)), unix.SizeofSockaddrInet4),
		newCall("listening", unix.SYS_LISTEN, fd, mostWaiting),
		newCall("sending it", unix.SYS_SENDMSG, uintptr(through), s.hold(unsafe.Pointer(message)), 0))
	return nil
}

// receiveListener receives a listening socket that was sent to fd.
func receiveListener(fd int) (net.Listener, error) {
	content, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(fd, content, control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("recvmsg", err)
	}
	messages, err := syscall.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("a socket came with %d messages (%w)", len(messages), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("%d sockets came (%w)", len(fds), err)
	}
	f := os.NewFile(uintptr(fds[0]), "relay")
	defer f.Close()
	return net.FileListener(f)
}

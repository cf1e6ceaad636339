package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A call is a system call that [script.run] makes in a process of its own.
type call struct {
	nr       uintptr
	args     [6]uintptr
	optional bool   // whether its failure is ignored
	chained  bool   // whether its first argument is the result of the call before
	what     string // description for errors
}

// A script is the calls of a process that joins the namespaces of another: outer on the way there, inner as a process
// of the joined pid namespace. Only a process without other threads can join a user namespace, which excludes all Go
// processes, so the calls are made in a fork that executes no Go code, and all their memory is prepared beforehand.
type script struct {
	outer, inner []call
	held         []*byte // keeps alive what the calls point to
}

// text returns the address of s for the kernel, or 0 for "".
func (s *script) text(text string) uintptr {
	if text == "" {
		return 0
	}
	return s.bytes(append([]byte(text), 0))
}

func (s *script) bytes(b []byte) uintptr {
	s.held = append(s.held, &b[0])
	return uintptr(unsafe.Pointer(&b[0]))
}

// hold keeps alive what a call points to, and returns its address for the kernel.
func (s *script) hold(p unsafe.Pointer) uintptr {
	s.held = append(s.held, (*byte)(p))
	return uintptr(p)
}

func newCall(what string, nr uintptr, args ...uintptr) call {
	c := call{nr: nr, what: what}
	copy(c.args[:], args)
	return c
}

// run makes the calls and returns the first error.
func (s *script) run() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	pid, errno := s.fork(w.Fd())
	err = w.Close()
	if errno != 0 {
		return os.NewSyscallError("clone", errno)
	}
	var report [8]byte
	_, untold := io.ReadFull(r, report[:])
	var status unix.WaitStatus
	for {
		if _, wait := unix.Wait4(pid, &status, 0, nil); wait != unix.EINTR {
			break
		}
	}
	if err != nil || untold != nil {
		return errors.Join(err, fmt.Errorf("the process that makes them ended with status %#x", int(status)))
	}
	return s.failure(int(binary.NativeEndian.Uint32(report[:4])), unix.Errno(binary.NativeEndian.Uint32(report[4:])))
}

// failure returns the error of a failed call.
func (s *script) failure(step int, errno unix.Errno) error {
	calls := slices.Concat(s.outer, s.inner)
	switch {
	case errno == 0:
		return nil
	case step >= len(calls):
		return fmt.Errorf("making a process in a namespace: %w", errno)
	}
	return fmt.Errorf("%s: %w", calls[step].what, errno)
}

// fork starts the process on the calling goroutine's thread. Signals are blocked meanwhile, since the fork could not
// handle them.
func (s *script) fork(pipe uintptr) (int, unix.Errno) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before uint64
	all = ^all
	pid, errno := forked(&s.outer[0], len(s.outer), &s.inner[0], len(s.inner), pipe, &all, &before)
	runtime.KeepAlive(s)
	return int(pid), unix.Errno(errno)
}

const sizeOfSignals = 8 // in the kernel

// forked forks. In the fork, which has no Go runtime, it only makes system calls and does not return: it writes the
// number of the failed call and the error to the pipe, or at the end no error.
//
//go:norace
//go:nosplit
//go:noinline
func forked(outer *call, nOuter int, inner *call, nInner int, pipe uintptr, all,
	before *uint64) (uintptr, syscall.Errno) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(all)),
		uintptr(unsafe.Pointer(before)), sizeOfSignals, 0, 0)
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(before)), 0, sizeOfSignals, 0,
			0)
		return pid, errno
	}
	failed := perform(outer, nOuter, 0, pipe)
	if !failed {
		var child uintptr
		child, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		switch {
		case errno != 0:
			tell(pipe, nOuter+nInner, errno)
		case child == 0:
			if !perform(inner, nInner, nOuter, pipe) {
				tell(pipe, 0, 0)
			}
		default:
			syscall.RawSyscall6(unix.SYS_WAIT4, child, 0, 0, 0, 0, 0)
		}
	}
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, 0, 0, 0, 0, 0, 0)
	}
}

// perform makes n calls and reports whether one failed, after writing that to the pipe.
//
//go:norace
//go:nosplit
//go:noinline
func perform(calls *call, n, first int, pipe uintptr) bool {
	var result uintptr
	for i := range n {
		c := (*call)(unsafe.Add(unsafe.Pointer(calls), uintptr(i)*unsafe.Sizeof(call{})))
		arg := c.args[0]
		if c.chained {
			arg = result
		}
		var errno syscall.Errno
		result, _, errno = syscall.RawSyscall6(c.nr, arg, c.args[1], c.args[2], c.args[3], c.args[4], c.args[5])
		if errno != 0 && !c.optional {
			tell(pipe, first+i, errno)
			return true
		}
	}
	return false
}

// tell writes the number of a failed call and its error.
//
//go:norace
//go:nosplit
//go:noinline
func tell(pipe uintptr, step int, errno syscall.Errno) {
	var words [2]uint32
	words[0], words[1] = uint32(step), uint32(errno)
	syscall.RawSyscall6(unix.SYS_WRITE, pipe, uintptr(unsafe.Pointer(&words)), unsafe.Sizeof(words), 0, 0, 0)
}

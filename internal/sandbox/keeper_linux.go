package sandbox

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// A keeper limits the number of processes. Through a filter that the processes inherit, the kernel asks the keeper
// before any of them makes a process or a thread, so unlike periodic counting a keeper cannot be outrun; and unlike the
// kernel's own limit it binds root.
//
// The start itself, recognized by its flags, must not be asked about: meanwhile Go starts nothing else, including a
// keeper in the same process. A program that uses the same flags would escape the keeper too. A process that confines
// itself denies them afterwards, and Go's own programs then start processes with others. Commands cannot; the watch is
// for that.
type keeper struct {
	listener int
	most     int
	crowd    crowd

	counted, let int       // the last count, and how many were allowed since
	full         time.Time // when the limit was last reached
}

// startFlags are the flags with which Go makes a process, in new namespaces if flags says so.
func startFlags(flags uintptr) uint32 {
	start := uint32(flags) | unix.CLONE_PIDFD | uint32(unix.SIGCHLD)
	if flags&unix.CLONE_NEWUSER == 0 {
		start |= unix.CLONE_VFORK | unix.CLONE_VM
	}
	return start
}

// listen adds the asking filter to the calling thread and returns the descriptor for its questions.
func listen(flags uintptr) (int, error) {
	filter := askFilter(startFlags(flags))
	if len(filter) == 0 {
		return -1, unix.ENOSYS
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
		uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return -1, os.NewSyscallError("seccomp", errno)
	}
	return int(fd), nil
}

// canAsk reports whether this kernel has asking filters, of which a process can have only one, and there is none yet.
func canAsk() bool {
	result := make(chan bool)
	onThread(true, func() {
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		fd := -1
		if err == nil {
			fd, err = listen(0)
		}
		closeFD(fd)
		result <- err == nil
	})
	return <-result
}

// startAsking starts cmd with a keeper, on a thread prepared by before. If group is not 0, cmd cannot leave that
// process group.
func (p *Plan) startAsking(cmd *exec.Cmd, most, group int, before func() error) (*Process, error) {
	k := &keeper{listener: -1, most: most}
	pidfd := -1
	cmd.SysProcAttr.PidFD = &pidfd // so that the flags of the start are fixed
	process, err := start(cmd, group, func() error {
		err := before()
		if err == nil {
			k.listener, err = listen(p.flags)
		}
		return err
	})
	closeFD(pidfd)
	if err != nil {
		closeFD(k.listener)
		return nil, err
	}
	k.crowd = p.newCrowd(process, group != 0)
	process.release = append(process.release, k.keep(process.done))
	return process, nil
}

func closeFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd) // nothing was written
	}
}

// StartZygote starts cmd, which confines itself by orders, with a keeper unless something else will limit the number of
// its processes.
func (p *Plan) StartZygote(cmd *exec.Cmd, b Bounds) (*Process, error) {
	if b.tasks() == 0 || p.level == isolation.None || p.bind(p.has(MountNS)) != byKeeper {
		return Start(cmd)
	}
	const own = 2 // the zygote, and the candidate's first process
	return p.startAsking(cmd, b.tasks()+own, 0, func() error {
		return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	})
}

// A notification is struct seccomp_notif, and an answer struct seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// keep answers questions until no process is left to ask. Call the returned function, which waits for that, when the
// process has ended.
func (k *keeper) keep(done <-chan struct{}) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer unix.Close(k.listener)
		for {
			fds := []unix.PollFd{{Fd: int32(k.listener), Events: unix.POLLIN}}
			n, err := unix.Poll(fds, 200)
			switch {
			case err == unix.EINTR:
			case err != nil || fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0:
				return
			case n > 0:
				k.answer()
			default: // older kernels do not report that
				select {
				case <-done:
					return
				default:
				}
			}
		}
	}()
	return sync.OnceFunc(func() { <-ended })
}

// answer answers one question. It ignores the error that the asking process is gone.
func (k *keeper) answer() {
	var q notification
	if ioctl(k.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)) != 0 {
		return
	}
	a := answer{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if !k.may() {
		a.flags, a.errno = 0, -int32(unix.EAGAIN)
	}
	ioctl(k.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
}

// recount is the pause between counts while the limit is reached.
const recount = 5 * time.Millisecond

// may reports whether one more may be made. It counts only when the last count plus those allowed since reaches the
// limit.
func (k *keeper) may() bool {
	if k.counted+k.let < k.most {
		k.let++
		return true
	}
	if time.Since(k.full) < recount {
		return false
	}
	k.counted, k.let = k.crowd.count(k.most), 1
	if k.counted >= k.most {
		k.full = time.Now()
		return false
	}
	return true
}

func ioctl(fd int, request uint, arg unsafe.Pointer) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
	return errno
}

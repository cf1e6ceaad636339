//go:build amd64 || arm64

package sandbox

import "golang.org/x/sys/unix"

// A setting describes the other mechanisms to a filter.
type setting struct {
	mounts   bool   // whether the file system is read-only except for the candidate's own folders
	pidns    bool   // whether other processes cannot be named
	truncate bool   // whether Landlock covers truncation
	guarded  []int  // processes that must not be signalled, unless pidns
	tcp      bool   // whether its network namespace has something to connect to
	start    uint32 // flags of the one set of namespaces that may still be made, by the installer of the filter
	unasked  uint32 // flags of clone with which a keeper would not be asked; 0 if there is none
}

// baseFilter is the filter for everything in the sandbox: no way out of the namespaces, no network, no access to other
// processes, no memory or files that escape the limits. clone3 fails as missing, since a filter cannot read its flags
// through the pointer; the C library then falls back to clone.
func baseFilter(s setting) []unix.SockFilter {
	p := new(program)
	p.begin()
	p.deny(fail(unix.ENOSYS), unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
		unix.SYS_IO_URING_REGISTER, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET)
	p.denyUnless(fail(unix.EPERM), unix.SYS_CLONE, 0, newNS, s.start)
	if s.unasked != 0 {
		p.denyIf(fail(unix.EPERM), unix.SYS_CLONE, 0, is(s.unasked))
	}
	p.deny(fail(unix.EPERM), system...)
	if s.tcp {
		p.tcpAlone()
	} else {
		p.deny(fail(unix.EPERM), network...)
	}
	p.denyIf(fail(unix.EPERM), unix.SYS_SOCKETPAIR, 0, isNot(unix.AF_UNIX))
	p.denyIf(fail(unix.EPERM), unix.SYS_SOCKETPAIR, 1, maskedNot(pairKind, unix.SOCK_STREAM))
	p.deny(fail(unix.EPERM), sharedMemory...)
	p.others(s)
	p.files(s)
	return p.end()
}

// newNS are the flags of clone that make namespaces.
const newNS = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// system are syscalls that no program needs and that enlarge the kernel's attack surface.
var system = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_TREE_ATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT, unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD,
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
}

// network are the syscalls that make a socket to elsewhere. A pair connected to itself is allowed, since event loops
// need one, but none of datagrams: one of those can send to any socket with a path.
var network = []uint32{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
}

// socketKind are the bits of a socket's type that are not flags; pairKind leaves the one out in which SOCK_SEQPACKET
// differs from SOCK_STREAM.
const (
	socketKind = 0xf
	pairKind   = socketKind &^ (unix.SOCK_SEQPACKET ^ unix.SOCK_STREAM)
)

// tcpAlone denies all sockets but those of TCP over IPv4, which reach what is in the network namespace.
func (p *program) tcpAlone() {
	const others = ^uint32(unix.IPPROTO_TCP)
	p.denyIf(fail(unix.EAFNOSUPPORT), unix.SYS_SOCKET, 0, isNot(unix.AF_INET))
	p.denyIf(fail(unix.EPERM), unix.SYS_SOCKET, 1, maskedNot(socketKind, unix.SOCK_STREAM))
	p.denyIf(fail(unix.EPERM), unix.SYS_SOCKET, 2, maskedNot(others, 0)) // the kernel refuses others within the mask
}

// sharedMemory are syscalls for objects that outlive their process and count towards no limit.
var sharedMemory = []uint32{
	unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// others denies actions on other processes of the same user. A process can set only its own attributes, as process 0.
func (p *program) others(s setting) {
	p.deny(fail(unix.EPERM), unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES)
	for _, nr := range []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		p.denyIf(fail(unix.EPERM), nr, 0, isNot(0))
	}
	for _, nr := range []uint32{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET} {
		p.denyIf(fail(unix.EPERM), nr, 1, isNot(0))
	}
	p.denyIf(fail(unix.EPERM), unix.SYS_SETPRIORITY, 0, isNot(unix.PRIO_PROCESS))
	// A descriptor can be made to send any signal to any process of the user.
	p.denyIf(fail(unix.EPERM), unix.SYS_FCNTL, 1, is(unix.F_SETOWN), is(unix.F_SETOWN_EX), is(unix.F_SETSIG),
		is(unix.F_SETLEASE), is(unix.F_NOTIFY))
	const fioSetOwn, siocSPGrp, fioAsync = 0x8901, 0x8902, 0x5452
	p.denyIf(fail(unix.EPERM), unix.SYS_IOCTL, 1, is(fioSetOwn), is(siocSPGrp), is(fioAsync),
		is(unix.TIOCSTI), is(unix.TIOCLINUX))
	if !s.pidns {
		p.guard(s.guarded) // Landlock, if present, keeps signals inside, but the zygote is inside too
	}
}

// guard denies signals to all processes at once, and to pids and their groups.
func (p *program) guard(pids []int) {
	everybody := int32(-1)
	tests := []test{is(uint32(everybody))}
	for _, pid := range pids {
		tests = append(tests, is(uint32(int32(pid))), is(uint32(int32(-pid))))
	}
	for _, nr := range []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO} {
		p.denyIf(fail(unix.EPERM), nr, 0, tests...)
	}
	p.deny(fail(unix.EPERM), unix.SYS_TKILL, unix.SYS_PIDFD_SEND_SIGNAL)
}

// files denies changes that Landlock does not cover, unless read-only mounts do: modes, owners and times, and before
// its third version truncation. Changes of modes and times seem to succeed, and attributes and access lists seem to be
// of no file system, because harmless programs make them after copying a file: sed -i warns of any other error.
func (p *program) files(s setting) {
	if s.mounts {
		return
	}
	p.deny(fail(0), append(modes, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT)...)
	p.deny(fail(unix.EPERM), append(owners, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_FILE_SETATTR)...)
	p.deny(fail(unix.EOPNOTSUPP), unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT)
	const fsSetXAttr = 0x401c5820
	p.denyIf(fail(unix.EPERM), unix.SYS_IOCTL, 1, is(unix.FS_IOC_SETFLAGS), is(fsSetXAttr))
	if s.truncate {
		return
	}
	p.deny(fail(unix.EPERM), unix.SYS_TRUNCATE)
	p.deny(fail(unix.ENOSYS), unix.SYS_OPENAT2)
	readTruncated := masked(unix.O_TRUNC|unix.O_ACCMODE, unix.O_TRUNC|unix.O_RDONLY)
	p.denyIf(fail(unix.EPERM), unix.SYS_OPENAT, 2, readTruncated)
	for _, nr := range open {
		p.denyIf(fail(unix.EPERM), nr, 1, readTruncated)
	}
}

// aloneFilter is added to baseFilter for a process that may have threads but no other processes. It also denies
// signals, which could only reach other processes of the user, unless a namespace hides those.
func aloneFilter(s setting) []unix.SockFilter {
	p := new(program)
	p.begin()
	p.alone(s)
	return p.end()
}

// timedFilter is aloneFilter for a process whose calls are timed: it must not set timers, with which an untimed call
// could disturb a timed one, nor change its processors.
func timedFilter(s setting) []unix.SockFilter {
	p := new(program)
	p.begin()
	p.alone(s)
	p.deny(fail(unix.EPERM), append(alarm, unix.SYS_TIMER_CREATE, unix.SYS_SETITIMER, unix.SYS_SCHED_SETAFFINITY)...)
	return p.end()
}

func (p *program) alone(s setting) {
	p.denyIf(fail(unix.EPERM), unix.SYS_CLONE, 0, hasNot(unix.CLONE_THREAD))
	p.deny(fail(unix.EPERM), forks...)
	p.denyIf(fail(unix.EPERM), unix.SYS_PRCTL, 0, is(unix.PR_SET_PDEATHSIG)) // which ends it with its starter
	if !s.pidns {
		p.deny(fail(unix.EPERM), unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO,
			unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL)
	}
}

// groupFilter is added to baseFilter for a tree of processes that can be killed only as a group: no process can leave
// the group or join another.
func groupFilter(group int) []unix.SockFilter {
	p := new(program)
	p.begin()
	p.deny(fail(unix.EPERM), unix.SYS_SETSID)
	p.denyIf(fail(unix.EPERM), unix.SYS_SETPGID, 0, isNot(0))
	p.denyIf(fail(unix.EPERM), unix.SYS_SETPGID, 1, isNot(uint32(group)))
	return p.end()
}

// askFilter asks the keeper before any process or thread is made, except one with the flags start.
func askFilter(start uint32) []unix.SockFilter {
	p := new(program)
	p.begin()
	p.denyIf(unix.SECCOMP_RET_USER_NOTIF, unix.SYS_CLONE, 0, isNot(start))
	p.deny(unix.SECCOMP_RET_USER_NOTIF, forks...)
	return p.end()
}

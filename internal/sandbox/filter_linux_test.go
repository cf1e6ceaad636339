//go:build amd64 || arm64

package sandbox

import (
	"testing"

	"golang.org/x/sys/unix"
)

// judge runs a filter on one system call, as the kernel would.
func judge(t *testing.T, filter []unix.SockFilter, arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	words := [16]uint32{nr, arch}
	for i, a := range args {
		words[4+2*i], words[5+2*i] = uint32(a), uint32(a>>32)
	}
	var acc uint32
	for pc := 0; pc < len(filter); pc++ {
		in := filter[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case opLoad:
			acc = words[in.K/4]
		case opAnd:
			acc &= in.K
		case opJEq:
			jump(acc == in.K)
		case opJSet:
			jump(acc&in.K != 0)
		case opJGE:
			jump(acc >= in.K)
		case opRet:
			return in.K
		default:
			t.Fatalf("instruction %d has code %#x", pc, in.Code)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestFilters(t *testing.T) {
	const allow, ask = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_USER_NOTIF
	const thread = unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND
	const start = unix.CLONE_NEWUSER | unix.CLONE_NEWPID
	minus := func(n int64) uint64 { return uint64(n) }
	base := baseFilter(setting{guarded: []int{77}, start: start})
	inside := baseFilter(setting{mounts: true, pidns: true})
	relayed := baseFilter(setting{tcp: true})
	for _, c := range []struct {
		why    string
		filter []unix.SockFilter
		nr     uint32
		args   []uint64
		want   uint32
	}{
		{"reading is free", base, unix.SYS_READ, nil, allow},
		{"no clone3, so that the C library uses clone", base, unix.SYS_CLONE3, nil, fail(unix.ENOSYS)},
		{"threads", base, unix.SYS_CLONE, []uint64{thread}, allow},
		{"processes", base, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allow},
		{"the start's namespaces", base, unix.SYS_CLONE, []uint64{start | uint64(unix.SIGCHLD)}, allow},
		{"one of the start's namespaces", base, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, fail(unix.EPERM)},
		{"more namespaces", base, unix.SYS_CLONE, []uint64{start | unix.CLONE_NEWNET}, fail(unix.EPERM)},
		{"namespaces inside", inside, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, fail(unix.EPERM)},
		{"sockets", base, unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, fail(unix.EPERM)},
		{"connecting", base, unix.SYS_CONNECT, nil, fail(unix.EPERM)},
		{"a pair", base, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"a pair of packets", base, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET | unix.SOCK_NONBLOCK},
			allow},
		{"a pair of datagrams", base, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC},
			fail(unix.EPERM)},
		{"a raw pair, which has datagrams", relayed, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_RAW},
			fail(unix.EPERM)},
		{"a pair of another kind", base, unix.SYS_SOCKETPAIR, []uint64{unix.AF_INET, unix.SOCK_STREAM}, fail(unix.EPERM)},
		{"with a relay: TCP", relayed, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_NONBLOCK,
			unix.IPPROTO_TCP}, allow},
		{"with a relay: connecting", relayed, unix.SYS_CONNECT, nil, allow},
		{"with a relay: UDP", relayed, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM}, fail(unix.EPERM)},
		{"with a relay: another protocol", relayed, unix.SYS_SOCKET,
			[]uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, fail(unix.EPERM)},
		{"with a relay: a path", relayed, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, fail(unix.EAFNOSUPPORT)},
		{"with a relay: a family in the high half", relayed, unix.SYS_SOCKET, []uint64{unix.AF_INET<<32 | unix.AF_NETLINK},
			fail(unix.EAFNOSUPPORT)},
		{"one's own limits", base, unix.SYS_PRLIMIT64, []uint64{0}, allow},
		{"another's limits", base, unix.SYS_PRLIMIT64, []uint64{77}, fail(unix.EPERM)},
		{"one's own priority", base, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 0}, allow},
		{"a user's priority", base, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_USER, 0}, fail(unix.EPERM)},
		{"another's priority", base, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 77}, fail(unix.EPERM)},
		{"a signal", base, unix.SYS_KILL, []uint64{78}, allow},
		{"a signal to who is guarded", base, unix.SYS_KILL, []uint64{77}, fail(unix.EPERM)},
		{"a signal to its group", base, unix.SYS_KILL, []uint64{minus(-77)}, fail(unix.EPERM)},
		{"a signal to everybody", base, unix.SYS_KILL, []uint64{minus(-1)}, fail(unix.EPERM)},
		{"a signal to everybody inside", inside, unix.SYS_KILL, []uint64{minus(-1)}, allow},
		{"a mode seems to change", base, unix.SYS_FCHMOD, nil, fail(0)},
		{"a mode inside", inside, unix.SYS_FCHMOD, nil, allow},
		{"a descriptor that signals", base, unix.SYS_FCNTL, []uint64{3, unix.F_SETOWN}, fail(unix.EPERM)},
		{"a descriptor", base, unix.SYS_FCNTL, []uint64{3, unix.F_GETFL}, allow},
		{"truncation while opening", base, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TRUNC}, fail(unix.EPERM)},
		{"truncation with writing, which Landlock sees", base, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TRUNC | unix.O_WRONLY},
			allow},
		{"input for a terminal", base, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, fail(unix.EPERM)},
		{"alone: threads", aloneFilter(setting{pidns: true}), unix.SYS_CLONE, []uint64{thread}, allow},
		{"alone: processes", aloneFilter(setting{pidns: true}), unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)},
			fail(unix.EPERM)},
		{"alone: a thread's flag in the high half", aloneFilter(setting{}), unix.SYS_CLONE, []uint64{unix.CLONE_THREAD << 32},
			fail(unix.EPERM)},
		{"alone: signals inside", aloneFilter(setting{pidns: true}), unix.SYS_KILL, []uint64{1}, allow},
		{"alone: signals", aloneFilter(setting{}), unix.SYS_KILL, []uint64{1}, fail(unix.EPERM)},
		{"in a group: a session", groupFilter(9), unix.SYS_SETSID, nil, fail(unix.EPERM)},
		{"in a group: into it", groupFilter(9), unix.SYS_SETPGID, []uint64{0, 9}, allow},
		{"in a group: into another", groupFilter(9), unix.SYS_SETPGID, []uint64{0, 8}, fail(unix.EPERM)},
		{"in a group: into one's own", groupFilter(9), unix.SYS_SETPGID, []uint64{0, 0}, fail(unix.EPERM)},
		{"asked: a process", askFilter(startFlags(0)), unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, ask},
		{"asked: a thread", askFilter(startFlags(0)), unix.SYS_CLONE, []uint64{thread}, ask},
		{"asked: the start", askFilter(startFlags(0)), unix.SYS_CLONE, []uint64{uint64(startFlags(0))}, allow},
	} {
		if got := judge(t, c.filter, auditArch, c.nr, c.args...); got != c.want {
			t.Errorf("%s: verdict %#x, want %#x", c.why, got, c.want)
		}
	}
	const i386 = 0x40000003
	if got := judge(t, base, i386, unix.SYS_READ); got != fail(unix.ENOSYS) {
		t.Errorf("another architecture: verdict %#x", got)
	}
	if x32Bit != 0 {
		if got := judge(t, base, auditArch, x32Bit|unix.SYS_SOCKET); got != fail(unix.ENOSYS) {
			t.Errorf("x32: verdict %#x", got)
		}
	}
}

// Package sandboxtest has what tests of containment share: a kernel that lacks some of its means, and a terminal that a
// candidate must not read.
//
// [Rerun] has a test run as on a kernel without Landlock and without user namespaces, which is what candidates meet in
// containers on older systems. A seccomp filter takes both away from a process for good, so the test binary is started
// once more for the test, by Rerun, and installs the filter in the new process, by [Inside].
package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// variable names what the filter takes away; it is set in the process that [Rerun] starts.
const variable = "EVOALLOC_OLD_KERNEL"

// A Loss is something that the emulated kernel lacks.
type Loss string

// The losses.
const (
	Landlock Loss = "landlock"
	UserNS   Loss = "userns"   // new user namespaces
	Dumpable Loss = "dumpable" // PR_SET_DUMPABLE seems to succeed, and does nothing
)

// nobody is an ordinary user, another one in each process: limits on a user's processes count those of tests beside it.
var nobody = uint32(20_000 + os.Getpid()%20_000)

// A Caller is who the test is run as.
type Caller string

// The callers.
const (
	Self     Caller = "whoever runs the tests"
	Ordinary Caller = "an ordinary user" // who runs the tests, unless that is root
)

// Rerun runs the calling test in a process of its own, where [Inside] is true, and fails the test if it
// fails there or is not run. The process has env in its environment from its start.
func Rerun(t *testing.T, as Caller, env []string, losses ...Loss) {
	t.Helper()
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	// Another user may not come to the binary by its path, but may execute an open file.
	cmd := exec.Command("/proc/self/fd/3", "-test.v", "-test.count=1",
		"-test.run=^"+strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")+"$")
	cmd.ExtraFiles = []*os.File{program}
	var words []string
	for _, l := range losses {
		words = append(words, string(l))
	}
	tmp, err := os.MkdirTemp("/tmp", "old-kernel-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	cmd.Env = append(os.Environ(), variable+"="+strings.Join(words, ","), "TMPDIR="+tmp)
	cmd.Env = append(cmd.Env, env...)
	if as == Ordinary && os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Env = append(cmd.Env, "HOME="+tmp)
		if err := os.Chown(tmp, int(nobody), int(nobody)); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Run()
	// Until it executes the binary a child has our memory. Its change of user makes that not dumpable.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(dumpable), 0, 0, 0); err != nil {
		t.Error(err)
	}
	if err == nil && !strings.Contains(out.String(), "--- PASS: "+t.Name()) {
		err = errors.New("the test was not run")
	}
	if err != nil {
		t.Errorf("as %s, without %s: %v\n%s", as, strings.Join(words, " and "), err, out.Bytes())
	}
}

// Inside reports whether this process was started by [Rerun], and takes away from it what is to be
// missing. A test calls it before it looks for what the system has.
func Inside(t *testing.T) bool {
	t.Helper()
	words, ok := os.LookupEnv(variable)
	if !ok {
		return false
	}
	var losses []Loss
	for _, word := range strings.Split(words, ",") {
		losses = append(losses, Loss(word))
	}
	if err := lose(losses); err != nil {
		t.Fatal(err)
	}
	return true
}

// lose installs the filter in all threads of this process, and checks that it does what it is to do.
func lose(losses []Loss) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sandboxtest: giving up new privileges: %w", err)
	}
	code := filter(losses)
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return fmt.Errorf("sandboxtest: installing a filter: %w", errno)
	}
	for _, l := range losses {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if the kernel still has what was to be lost.
func (l Loss) check() error {
	var errno error
	want := unix.EPERM
	switch l {
	case Landlock:
		want = unix.ENOSYS
		if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); e != 0 {
			errno = e
		}
	case UserNS:
		errno = unix.Unshare(unix.CLONE_NEWUSER)
	case Dumpable:
		return nil
	default:
		return fmt.Errorf("sandboxtest: %q: nothing of that name can be taken away", string(l))
	}
	if !errors.Is(errno, want) {
		return fmt.Errorf("sandboxtest: after %s was taken away the kernel answers %v, want %v", l, errno, want)
	}
	return nil
}

// filter returns the instructions that take away losses: a block for each system call, which begins and
// ends with its number loaded.
func filter(losses []Loss) []unix.SockFilter {
	const number, firstArg = 0, 16
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	fail := func(errno unix.Errno) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
	}
	jump := func(op uint16, k uint32, otherwise uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: k, Jf: otherwise}
	}
	code := []unix.SockFilter{load(number)}
	always := func(nr uint32, errno unix.Errno) {
		code = append(code, jump(unix.BPF_JEQ, nr, 1), fail(errno))
	}
	when := func(nr uint32, op uint16, k uint32, errno unix.Errno) {
		code = append(code, jump(unix.BPF_JEQ, nr, 4), load(firstArg), jump(op, k, 1), fail(errno), load(number))
	}
	for _, l := range losses {
		switch l {
		case Landlock:
			always(unix.SYS_LANDLOCK_CREATE_RULESET, unix.ENOSYS)
			always(unix.SYS_LANDLOCK_ADD_RULE, unix.ENOSYS)
			always(unix.SYS_LANDLOCK_RESTRICT_SELF, unix.ENOSYS)
		case UserNS:
			always(unix.SYS_CLONE3, unix.ENOSYS) // its flags are out of sight; C libraries then use clone
			when(unix.SYS_UNSHARE, unix.BPF_JSET, unix.CLONE_NEWUSER, unix.EPERM)
			when(unix.SYS_CLONE, unix.BPF_JSET, unix.CLONE_NEWUSER, unix.EPERM)
		case Dumpable:
			when(unix.SYS_PRCTL, unix.BPF_JEQ, unix.PR_SET_DUMPABLE, 0)
		}
	}
	return append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
}

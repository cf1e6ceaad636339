package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// gate is the script that starts a command: a shell waits for a line, which is sent when its user and limits have been
// set from outside, and runs the command. In a pid namespace the shell is the first process, which ignores signals from
// inside, unlike what a command expects.
//
// The shell enters its folder again by name, since with private mounts the folder is now under another mount.
const gate = `read -r line <&3 || exit 126; exec 3<&-; cd "$PWD" && unset OLDPWD || exit 126; "$@"; exit $?`

// become is the gate of a command that replaces the shell instead of being its child.
const become = `read -r line <&3 || exit 126; exec 3<&-; cd "$PWD" && unset OLDPWD || exit 126; exec "$@"`

// Contain starts cmd, any program, under the plan, able to write only to folders. It starts cmd in new namespaces.
// Landlock and seccomp bind the thread that sets them and its processes, so Contain uses up a thread. Limits and the
// user in the new namespace are set from outside: see gate. Another process makes the private mounts, under a plan for
// commands: see furnish.
//
// Descriptor 3 is the gate's, so the first of cmd.ExtraFiles is 4 in the command.
//
// The exit status of a command killed by a signal is 128 plus the signal, unless b.Itself is set.
func (p *Plan) Contain(cmd *exec.Cmd, b Bounds, folders ...string) (*Process, error) {
	inside, outside, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("sandbox: making a pipe: %w", err)
	}
	defer inside.Close()
	defer outside.Close()
	script := gate
	if b.Itself {
		script = become
	}
	cmd.Args = append([]string{"sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.ExtraFiles = "/bin/sh", append([]*os.File{inside}, cmd.ExtraFiles...)
	if err := CloseInherited(cmd); err != nil {
		return nil, err
	}
	cmd.SysProcAttr = attr(p.flags)
	cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings, cmd.SysProcAttr.AmbientCaps = nil, nil, nil
	settle()
	process, err := p.startConfined(cmd, slices.Concat(folders, p.aboveTargets()), b.Processes)
	if err != nil {
		return nil, err
	}
	err = p.mapUser(process.pid)
	if err == nil {
		err = p.furnish(process.pid, slices.Concat(folders, p.targets()))
	}
	if err == nil {
		err = p.relay.listenIn(p, process.pid)
	}
	if err == nil {
		err = limit(process.pid, b, p.bind(true) == byCount)
	}
	if err == nil {
		err = p.crowd(process, b.Processes)
	}
	if err == nil {
		_, err = outside.WriteString("\n")
	}
	if err != nil {
		process.Kill()
		<-process.done
		return nil, fmt.Errorf("sandbox: containing a command: %w", err)
	}
	return process, nil
}

// startConfined starts cmd on a confined thread, with at most most processes besides a shell.
func (p *Plan) startConfined(cmd *exec.Cmd, folders []string, most int) (*Process, error) {
	switch {
	case p.level == isolation.None:
		return Start(cmd)
	case p.has(PIDNS) || !p.has(Seccomp):
		return p.startKept(cmd, most+1, 0, func() error { return p.confineThread(folders, 0) })
	}
	leader, err := startLeader()
	if err != nil {
		return nil, fmt.Errorf("sandbox: starting a process group: %w", err)
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pgid = false, true, leader.pid
	process, err := p.startKept(cmd, most+2, leader.pid, func() error { return p.confineThread(folders, leader.pid) })
	if err != nil {
		leader.Kill()
		<-leader.done
	}
	return process, err
}

// startKept starts cmd, with a keeper if that limits the number of processes.
func (p *Plan) startKept(cmd *exec.Cmd, most, group int, before func() error) (*Process, error) {
	if p.bind(true) != byKeeper {
		return start(cmd, group, before)
	}
	return p.startAsking(cmd, most, group, before)
}

// startLeader starts a process that only leads a group. Without a pid namespace, processes are killed by their group,
// which they must not leave. So they must not make a group or session either, and join an existing group instead.
func startLeader() (*Process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", "read -r line")
	cmd.Stdin = r
	cmd.Env, cmd.SysProcAttr = []string{}, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := CloseInherited(cmd); err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	leader, err := Start(cmd)
	if err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	go func() {
		<-leader.done // closed by the end of the group
		_ = w.Close()
	}()
	return leader, r.Close()
}

// settle has Go probe the support for process descriptors now: on the confined thread the result would be wrong.
func settle() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
}

// confineThread permanently restricts the calling thread; if group is not 0, to that process group.
func (p *Plan) confineThread(folders []string, group int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: giving up new privileges: %w", err)
	}
	dropCapabilities()
	if p.has(Landlock) {
		rules := handled(p.abi)
		if p.furnishes {
			rules.fs &^= readFile // /proc and /dev are mounted later, so no rule can name them
		}
		if p.furnishes && p.relay != nil {
			// Nor terminals, which are written to. What may be written to is for the mounts to say.
			rules.fs &^= unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
		}
		if p.relay != nil {
			rules.net = 0 // their network has nothing but the relay, and servers of their own
		}
		rules.allow(p.hidden, folders...)
		if err := rules.enforce(); err != nil {
			return err
		}
	}
	if !p.has(Seccomp) {
		return nil
	}
	s := p.setting([]int{os.Getpid()})
	s.start = uint32(p.flags)
	filters := [][]unix.SockFilter{baseFilter(s)}
	if group != 0 {
		filters = append(filters, groupFilter(group))
	}
	for _, f := range filters {
		if err := install(f); err != nil {
			return err
		}
	}
	return nil
}

// dropCapabilities empties the set of capabilities that executing a program can give. A thread that may not do that has
// none.
func dropCapabilities() {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, c, 0, 0, 0) == nil && c < 64; c++ {
		if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) != nil {
			return
		}
	}
}

// install adds a filter to the calling thread.
func install(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
	runtime.KeepAlive(filter)
	if err != nil {
		return fmt.Errorf("sandbox: installing a filter: %w", err)
	}
	return nil
}

// mapUser maps the process to its own user in its user namespace.
func (p *Plan) mapUser(pid int) error {
	if p.flags&unix.CLONE_NEWUSER == 0 {
		return nil
	}
	dir := "/proc/" + strconv.Itoa(pid)
	one := func(id int) []byte { return fmt.Appendf(nil, "%d %d 1\n", id, id) }
	return errors.Join(
		os.WriteFile(dir+"/uid_map", one(os.Geteuid()), 0),
		os.WriteFile(dir+"/setgroups", []byte("deny"), 0),
		os.WriteFile(dir+"/gid_map", one(os.Getegid()), 0),
	)
}

// The ways to limit the number of processes.
type binding int

const (
	byWatch   binding = iota // only after it is exceeded
	byCount                  // by the kernel's count of a user's processes in a namespace
	byHighest                // by the highest process id in a namespace, for root
	byKeeper                 // by asking a keeper
)

// bind returns the way to limit the number of processes. Root is exempt from the kernel's count, which outside a user
// namespace includes all of the user's processes. highest means that the highest process id can be set.
func (p *Plan) bind(highest bool) binding {
	root := os.Geteuid() == 0
	switch {
	case !root && p.has(UserNS):
		return byCount
	case root && p.has(PIDNS) && highest && pidMaxByNamespace():
		return byHighest
	case p.asks:
		return byKeeper
	}
	return byWatch
}

// crowd limits the number of a command's processes, unless its other limits already do. The shell that starts the
// command is one more.
func (p *Plan) crowd(process *Process, most int) error {
	switch p.bind(true) {
	case byHighest:
		return lowerPIDMax(process.pid, firstPID+most)
	case byWatch, byKeeper:
		process.release = append(process.release, p.watch(process, most+1))
	}
	return nil
}

// lowerPIDMax sets the highest process id in the pid namespace of pid. It does so from an unconfined process in that
// namespace, since the setting applies to the namespace of the caller.
func lowerPIDMax(pid, highest int) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		return fmt.Errorf("sandbox: finding a pid namespace: %w", err)
	}
	defer ns.Close()
	const script = "echo %d > /proc/sys/kernel/pid_max && { echo %d > /proc/sys/kernel/ns_last_pid || :; } 2>/dev/null"
	cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf(script, highest, firstPID))
	cmd.Env = []string{}
	helper, err := start(cmd, 0, func() error { return unix.Setns(int(ns.Fd()), unix.CLONE_NEWPID) })
	if err == nil {
		err = helper.Wait()
	}
	if err != nil {
		return fmt.Errorf("sandbox: limiting process ids to %d: %w", highest, err)
	}
	return nil
}

// limit sets the limits of a process waiting at the gate.
func limit(pid int, b Bounds, countable bool) error {
	limits := []struct {
		which      int
		soft, hard uint64
	}{
		{unix.RLIMIT_CORE, 0, 0},
		{unix.RLIMIT_CPU, b.Seconds(), b.Seconds() + 1},
		{unix.RLIMIT_AS, uint64(b.Memory), uint64(b.Memory)},
		{unix.RLIMIT_FSIZE, uint64(b.FileBytes), uint64(b.FileBytes)},
		{unix.RLIMIT_NOFILE, uint64(b.OpenFiles), uint64(b.OpenFiles)},
	}
	if countable && b.Processes > 0 {
		most := uint64(b.Processes)
		if !b.Itself {
			most++ // the shell that waits for the command
		}
		limits = append(limits, struct {
			which      int
			soft, hard uint64
		}{unix.RLIMIT_NPROC, most, most})
	}
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, l.which, nil, &now); err != nil {
			return fmt.Errorf("sandbox: reading limit %d: %w", l.which, err)
		}
		next := unix.Rlimit{Cur: min(l.soft, now.Max), Max: min(l.hard, now.Max)}
		if err := unix.Prlimit(pid, l.which, &next, nil); err != nil {
			return fmt.Errorf("sandbox: setting limit %d to %d: %w", l.which, l.soft, err)
		}
	}
	return nil
}

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// spaces are the namespaces, each with its flag; a user namespace lets a user without root have the
// others.
var spaces = []struct {
	mechanism isolation.Mechanism
	flag      uintptr
}{
	{UserNS, unix.CLONE_NEWUSER},
	{PIDNS, unix.CLONE_NEWPID},
	{NetNS, unix.CLONE_NEWNET},
	{IPCNS, unix.CLONE_NEWIPC},
	{MountNS, unix.CLONE_NEWNS},
}

// namespaces returns the flags of those namespaces among want that this process can make, and the reasons for the
// others. It finds out by trying.
func namespaces(want []isolation.Mechanism) (flags uintptr, missing map[isolation.Mechanism]string) {
	missing = make(map[isolation.Mechanism]string)
	var all uintptr
	for _, s := range spaces {
		if contains(want, s.mechanism) {
			all |= s.flag
		}
	}
	if all == 0 || try(all) == nil {
		return all, missing
	}
	user := all & unix.CLONE_NEWUSER
	if user != 0 && try(user) != nil {
		user = 0 // root does not need one
	}
	flags = user
	for _, s := range spaces {
		if all&s.flag == 0 || user&s.flag != 0 {
			continue
		}
		if err := try(flags | s.flag); err != nil {
			missing[s.mechanism] = why(s.mechanism, err)
			continue
		}
		flags |= s.flag
	}
	return flags, missing
}

// try makes a process in new namespaces that executes a missing file: that error means that everything before it
// worked.
func try(flags uintptr) error {
	dir, err := os.Open("/")
	if err != nil {
		return err
	}
	defer dir.Close()
	attr := &syscall.ProcAttr{Files: []uintptr{dir.Fd()}, Sys: attr(flags)}
	_, err = syscall.ForkExec("/nonexistent/evoalloc", []string{"evoalloc"}, attr)
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	if err == nil {
		err = errors.New("started what does not exist")
	}
	return err
}

// attr returns the attributes of a process in the new namespaces of flags, as the same user, in its own session, which
// ends with the thread that starts it.
func attr(flags uintptr) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: flags, Setsid: true, Pdeathsig: syscall.SIGKILL}
	if flags&unix.CLONE_NEWUSER != 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		// To mount, and for layers to enter their own folders; dropped before foreign code runs.
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}
	}
	return a
}

// why returns the reason for an error of making a namespace, for people.
func why(m isolation.Mechanism, err error) string {
	hint := ""
	switch {
	case m == UserNS && readsZero("/proc/sys/user/max_user_namespaces"):
		hint = "user.max_user_namespaces is 0"
	case readsZero("/proc/sys/kernel/unprivileged_userns_clone"):
		hint = "kernel.unprivileged_userns_clone is 0"
	case readsOne("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"):
		hint = "kernel.apparmor_restrict_unprivileged_userns is 1"
	case m != UserNS && errors.Is(err, syscall.EPERM):
		hint = "needs a user namespace or root"
	}
	if hint == "" {
		return err.Error()
	}
	return fmt.Sprintf("%v: %s", err, hint)
}

func readsZero(path string) bool { return reads(path) == "0" }
func readsOne(path string) bool  { return reads(path) == "1" }

func reads(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

func contains(ms []isolation.Mechanism, m isolation.Mechanism) bool {
	for _, x := range ms {
		if x == m {
			return true
		}
	}
	return false
}

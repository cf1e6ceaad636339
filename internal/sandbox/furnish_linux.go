package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// NewCommandPlan is [NewPlan] for commands started by Contain, with private mounts. Without user namespaces it makes
// this process not dumpable even if there is Landlock, unless this process is root.
func NewCommandPlan(level isolation.Level, want []isolation.Mechanism) (*Plan, error) {
	p, err := NewPlan(level, want)
	if err == nil {
		err = p.close(true)
	}
	if err != nil || !p.has(MountNS) {
		return p, err
	}
	p.furnishes = true
	cmd := exec.Command("/bin/sh", "-c", "exit 0")
	cmd.Dir, cmd.Env = "/", []string{}
	if err := p.trial(cmd); err != nil {
		p.furnishes, p.missing[MountNS] = false, err.Error()
		p.flags &^= unix.CLONE_NEWNS
	}
	return p, nil
}

// furnish gives the process at the gate, which has its own namespaces, a file system that is read-only except for
// folders, a /proc of its own pid namespace, and a small /dev. That process is confined already, so another one joins
// its namespaces and does this.
func (p *Plan) furnish(pid int, folders []string) error {
	if !p.furnishes {
		return nil
	}
	var s script
	close, err := s.enter(p, pid)
	defer close()
	if err != nil {
		return fmt.Errorf("sandbox: making private mounts: %w", err)
	}
	s.mount("making mounts private", "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if p.has(PIDNS) {
		s.mount("mounting /proc", "proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		// Where parts of /proc are hidden, as in some containers, the kernel does not allow another /proc.
		s.inner[len(s.inner)-1].optional = true
	}
	s.layers(p.layers)
	s.hide(p.hidden)
	s.devices(p.kept(), p.relay != nil)
	s.readOnly(folders)
	if err := s.run(); err != nil {
		return fmt.Errorf("sandbox: making private mounts: %w", err)
	}
	return nil
}

// enter has the script join the namespaces of pid that mounts need, and go to its root. close closes the descriptors
// needed for that.
func (s *script) enter(p *Plan, pid int) (close func(), err error) {
	left, err := s.join(p, pid, UserNS, PIDNS, MountNS)
	// Joining leads to the root of all mounts, which is not this process's root if that was changed.
	root, bad := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if bad != nil {
		err = errors.Join(err, fmt.Errorf("opening root: %w", bad))
	}
	s.outer = append(s.outer, newCall("going to its root", unix.SYS_FCHDIR, uintptr(root)),
		newCall("changing the root", unix.SYS_CHROOT, s.text(".")))
	return func() {
		left()
		closeFD(root)
	}, err
}

// join has the script join those namespaces of pid that the plan has. close closes the descriptors needed for that.
func (s *script) join(p *Plan, pid int, want ...isolation.Mechanism) (close func(), err error) {
	var opened []int
	close = func() {
		for _, fd := range opened {
			closeFD(fd)
		}
	}
	open := func(name string) uintptr {
		fd, e := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("opening %s: %w", name, e))
			return 0
		}
		opened = append(opened, fd)
		return uintptr(fd)
	}
	for _, ns := range []struct {
		mechanism isolation.Mechanism
		name      string
		flag      uintptr
	}{{UserNS, "user", unix.CLONE_NEWUSER}, {PIDNS, "pid", unix.CLONE_NEWPID}, {NetNS, "net", unix.CLONE_NEWNET},
		{MountNS, "mnt", unix.CLONE_NEWNS}} {
		if p.has(ns.mechanism) && slices.Contains(want, ns.mechanism) {
			s.outer = append(s.outer, newCall("joining a "+string(ns.mechanism), unix.SYS_SETNS, open(ns.name), ns.flag))
		}
	}
	return close, err
}

func (s *script) mount(what, source, target, kind string, flags uintptr, options string) {
	s.inner = append(s.inner,
		newCall(what, unix.SYS_MOUNT, s.text(source), s.text(target), s.text(kind), flags, s.text(options)))
}

// here stands for the working directory in calls with paths relative to a descriptor.
const here = ^uintptr(0) - 99 // AT_FDCWD, -100

// kept returns the devices of a private /dev.
func (p *Plan) kept() []string {
	return append(slices.DeleteFunc(slices.Concat(devices, readable), func(device string) bool {
		info, err := os.Stat(device)
		return err != nil || info.Mode()&os.ModeCharDevice == 0
	}), p.lent...)
}

// devices replaces /dev by a folder with the devices that only consume or produce bytes. It is assembled on top of
// /proc, a folder that always exists, and moved. With terminals a process can make pseudo terminals of its own, in which
// the shells of agents run.
func (s *script) devices(kept []string, terminals bool) {
	const staging = "/proc"
	s.mount("mounting a folder for /dev", "tmpfs", staging, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC,
		"mode=0755,size=64k,nr_inodes=32")
	for _, device := range kept {
		file := filepath.Join(staging, filepath.Base(device))
		s.inner = append(s.inner, newCall("making "+device, unix.SYS_MKNODAT, here, s.text(file), unix.S_IFREG|0o644, 0))
		s.mount("mounting "+device, device, file, "", unix.MS_BIND, "")
	}
	for _, link := range [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
		{"stderr", "/proc/self/fd/2"}} {
		name, target := link[0], s.text(link[1])
		s.inner = append(s.inner,
			newCall("making /dev/"+name, unix.SYS_SYMLINKAT, target, here, s.text(filepath.Join(staging, name))))
	}
	s.inner = append(s.inner, newCall("making /dev/shm", unix.SYS_MKDIRAT, here, s.text(staging+"/shm"), 0o755))
	if terminals {
		s.inner = append(s.inner, newCall("making /dev/pts", unix.SYS_MKDIRAT, here, s.text(staging+"/pts"), 0o755),
			newCall("making /dev/ptmx", unix.SYS_SYMLINKAT, s.text("pts/ptmx"), here, s.text(staging+"/ptmx")))
		s.mount("mounting /dev/pts", "devpts", staging+"/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC,
			"newinstance,ptmxmode=0666,mode=0620,max=64")
		s.inner[len(s.inner)-1].optional = true
	}
	s.mount("mounting /dev", staging, "/dev", "", unix.MS_MOVE, "")
}

// hide covers each existing path with an empty folder or file.
func (s *script) hide(paths []string) {
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil {
			continue
		} else if info.IsDir() {
			s.mount("hiding "+path, "tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC,
				"mode=0,size=4k,nr_inodes=1")
		} else {
			s.mount("hiding "+path, os.DevNull, path, "", unix.MS_BIND, "")
		}
	}
}

// readOnly makes every mount read-only and nosuid, except for the existing folders.
func (s *script) readOnly(folders []string) {
	setattr := func(what, path string, flags uintptr, attr unix.MountAttr) {
		b := (*[unsafe.Sizeof(attr)]byte)(unsafe.Pointer(&attr))[:]
		s.inner = append(s.inner,
			newCall(what, unix.SYS_MOUNT_SETATTR, here, s.text(path), flags, s.bytes(b), uintptr(len(b))))
	}
	var there []string
	for _, f := range folders {
		if isDir(f) {
			there = append(there, f)
			s.mount("mounting "+f, f, f, "", unix.MS_BIND|unix.MS_REC, "")
		}
	}
	setattr("making mounts read-only", "/",
		unix.AT_RECURSIVE, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID})
	for _, f := range there {
		setattr("letting "+f+" be written to", f, 0, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		s.inner[len(s.inner)-1].optional = true // it may be on a disk that is read-only anyway
	}
}

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockABI returns the version of Landlock in this kernel, or why there is none.
func landlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return int(v), nil
	case unix.ENOSYS:
		return 0, fmt.Errorf("not built into this kernel")
	case unix.EOPNOTSUPP:
		return 0, fmt.Errorf("turned off in this kernel")
	}
	return 0, errno
}

// A ruleset is Landlock's rules: everything handled is denied, except by the rules.
type ruleset struct {
	fs, net, scoped uint64
	rules           []rule
}

type rule struct {
	path   string
	access uint64
}

// handled returns the accesses that change the file system or read files, but not executing and listing folders. Each
// version of Landlock covers more of them, and later ones also keep signals and sockets inside.
func handled(abi int) ruleset {
	s := ruleset{fs: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM}
	if abi >= 2 {
		s.fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		s.fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		s.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		s.fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		s.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return s
}

// The accesses never allowed in a writable folder, those allowed for devices that only consume or produce bytes, and
// these devices; readable ones are read-only.
const (
	readFile    = unix.LANDLOCK_ACCESS_FS_READ_FILE
	makeDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	useDevice = readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

var (
	devices  = []string{"/dev/null", "/dev/zero", "/dev/full"}
	readable = []string{"/dev/random", "/dev/urandom"}
)

// allow allows writing to folders and the devices, and reading everything that is not hidden.
func (s *ruleset) allow(hidden []string, folders ...string) {
	for _, path := range folders {
		s.rules = append(s.rules, rule{path, s.fs &^ makeDevices})
	}
	for _, path := range devices {
		s.rules = append(s.rules, rule{path, s.fs & useDevice})
	}
	if s.fs&readFile == 0 {
		return
	}
	for _, path := range readables(hidden) {
		s.rules = append(s.rules, rule{path, readFile})
	}
}

// readables returns the readable paths: everything but devices and hidden paths, since a program needs its interpreter
// and libraries wherever they are. Landlock can only allow, so these are all folders beside /dev, and beside each
// folder on the way to a hidden path.
func readables(hidden []string) []string {
	return append(slices.Clone(readable), beside("/", append([]string{"/dev"}, hidden...))...)
}

// beside returns the entries of dir, without hidden ones and links, whose targets are covered elsewhere.
func beside(dir string, hidden []string) (paths []string) {
	entries, _ := os.ReadDir(dir) // an unreadable folder allows nothing, as a program will notice
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0, slices.Contains(hidden, path):
		case slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) }):
			paths = append(paths, beside(path, hidden)...)
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

// enforce restricts the calling thread and everything that it starts from now on. The thread must have given up new
// privileges.
func (s ruleset) enforce() error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: s.fs, Handled_access_net: s.net, Scoped: s.scoped}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), attrSize(s), 0)
	if errno != 0 {
		return fmt.Errorf("sandbox: making Landlock rules: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, r := range s.rules {
		if err := r.add(int(fd)); err != nil {
			return fmt.Errorf("sandbox: letting %s be written to: %w", r.path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("sandbox: enforcing Landlock rules: %w", errno)
	}
	return nil
}

// attrSize returns the size of the attributes that this kernel knows.
func attrSize(s ruleset) uintptr {
	switch {
	case s.scoped != 0:
		return 24
	case s.net != 0:
		return 16
	}
	return 8
}

// add adds r to the ruleset fd. A path that does not exist, or cannot be reached, needs no rule.
func (r rule) add(fd int) error {
	path, err := unix.Open(r.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT || err == unix.EACCES {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(path)
	beneath := packBeneath(r.access, path)
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// packBeneath is struct landlock_path_beneath_attr, which is packed: twelve bytes.
func packBeneath(access uint64, fd int) [12]byte {
	var b [12]byte
	*(*uint64)(unsafe.Pointer(&b[0])) = access
	*(*int32)(unsafe.Pointer(&b[8])) = int32(fd)
	return b
}

package checkout

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isWhiteout reports whether an entry of an overlay's upper folder takes away what its lower folder has.
func isWhiteout(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && s.Rdev == 0
}

// isOpaque reports whether a folder of an overlay's upper folder hides all of the folder below it.
func isOpaque(root *os.Root) bool {
	dir, err := root.Open(".")
	if err != nil {
		return false
	}
	defer dir.Close()
	var value [8]byte
	n, err := unix.Fgetxattr(int(dir.Fd()), "user.overlay.opaque", value[:])
	return err == nil && string(value[:n]) == "y"
}

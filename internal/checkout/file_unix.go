//go:build unix

package checkout

import (
	"io/fs"
	"syscall"
)

// dontWait has a file opened that is a pipe without a writer.
const dontWait = syscall.O_NONBLOCK

// HardLinks returns the number of a file's names.
func HardLinks(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

//go:build unix

package embedded

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether this process's user owns a file.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// Package claim distinguishes temporary files and folders in use from those that a killed process left behind.
package claim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrGone is returned by [Take] if another process removed or locked the file before it was claimed. Remove it if it is
// there, and make another.
var ErrGone = errors.New("claim: it was removed or locked before it was claimed")

// Take marks the file or folder at path, which the caller has just made, as in use: [Sweep] leaves it alone
// until release is called, or the process ends, however it ends. Where the system or the file system has no
// locks that end with their process, Take does nothing, and Sweep too.
func Take(path string) (release func(), err error) { return take(path) }

// Sweep calls remove with the path of everything in dir that is not in use, belongs to this user and has a name of
// prefix and a decimal number. It is best effort: what cannot be examined or removed stays.
func Sweep(dir, prefix string, remove func(path string) error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		number, found := strings.CutPrefix(e.Name(), prefix)
		if _, err := strconv.ParseUint(number, 10, 64); !found || err != nil || e.Type()&^fs.ModeDir != 0 {
			continue
		}
		sweep(filepath.Join(dir, e.Name()), remove)
	}
}

//go:build unix && !solaris && !aix

package report

import (
	"errors"
	"os"
	"syscall"
)

// errRemoved says that a file was removed before it was claimed.
var errRemoved = errors.New("the temporary file was removed before it was claimed")

// claim marks the file at path, which is f, as in use until release is called. The system does that for a
// process that is killed. The mark is on a descriptor of its own, as it is to outlast f: until the file has
// another name. A file that cannot be marked, on a file system without locks, is not removed by
// [removeUnclaimed] either.
func claim(f *os.File, path string) (release func(), err error) {
	mark, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	release = func() { mark.Close() }
	if flock(mark, syscall.LOCK_EX) != nil {
		return release, nil
	}
	// Another process may have found the file between its making and its claim.
	own, err := f.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Lstat(path); err == nil && !os.SameFile(own, there) {
			err = errRemoved
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// removeUnclaimed removes the file at path unless a process has claimed it.
func removeUnclaimed(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		os.Remove(path)
	}
}

// flock locks f as how says.
func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

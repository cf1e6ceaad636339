package report

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// createTemp makes a temporary file for path, beside it, that no other process removes before release is
// called. Its mode is what the umask leaves of 0666: that of os.CreateTemp is 0600 always, and changing it
// later would need to know the umask.
func createTemp(path string) (f *os.File, release func(), err error) {
	for range 100 { // a name that is taken, or a file that was removed before it was claimed
		name := filepath.Join(filepath.Dir(path), tempPrefix(path)+strconv.FormatUint(rand.Uint64(), 10))
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if release, err = claim(f, name); err == nil {
			return f, release, nil
		}
		f.Close()
		os.Remove(name)
	}
	return nil, nil, err
}

// tempPrefix is what the names of temporary files for path begin with; a number follows.
func tempPrefix(path string) string { return fmt.Sprintf(".%s.", filepath.Base(path)) }

// removeLeft removes the temporary files for path whose process was killed before it renamed or removed
// them. It is a courtesy: what cannot be removed stays.
func removeLeft(path string) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		number, found := strings.CutPrefix(e.Name(), tempPrefix(path))
		if _, err := strconv.ParseUint(number, 10, 64); !found || err != nil || !e.Type().IsRegular() {
			continue
		}
		removeUnclaimed(filepath.Join(dir, e.Name()))
	}
}

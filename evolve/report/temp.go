package report

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/evoalloc/evoalloc/internal/claim"
)

// createTemp makes a temporary file beside path, as a rename cannot cross file systems. No other process removes it
// before release is called. Its mode is what the umask leaves of 0666, and not os.CreateTemp's 0600.
func createTemp(path string) (f *os.File, release func(), err error) {
	for range 100 { // a name that is taken, or a file that was removed before it was claimed
		name := tempPrefix(path) + strconv.FormatUint(rand.Uint64(), 10)
		f, err = os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if release, err = claim.Take(f.Name()); err == nil {
			return f, release, nil
		}
		f.Close()
		os.Remove(f.Name())
	}
	return nil, nil, err
}

// tempPrefix is what the names of temporary files for path begin with; a number follows.
func tempPrefix(path string) string { return fmt.Sprintf(".%s.", filepath.Base(path)) }

// removeLeft removes the temporary files for path whose process was killed before it renamed or removed them. A
// file that is being written is claimed, and stays.
func removeLeft(path string) { claim.Sweep(filepath.Dir(path), tempPrefix(path), os.Remove) }

package python

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// scratchName is what the names of the folders begin with in which candidates write; a number follows.
const scratchName = "evoalloc-python-"

// newScratch makes the folder in which the candidates of one interpreter write, and claims it until release is
// called. It removes such folders of processes that were killed and could not do so themselves.
func newScratch() (dir string, release func(), err error) {
	claim.Sweep(os.TempDir(), scratchName, sandbox.Remove)
	for range 100 { // another process may remove the folder before it is claimed
		if dir, err = os.MkdirTemp("", scratchName); err != nil {
			return "", nil, fmt.Errorf("python: making a temporary folder: %w", err)
		}
		if release, err = claim.Take(dir); !errors.Is(err, claim.ErrGone) {
			break
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("python: claiming the temporary folder %s: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		release()
		return "", nil, errors.Join(fmt.Errorf("python: finding the temporary folder: %w", err), os.Remove(dir))
	}
	return real, release, nil
}

// removeScratch removes the folder, whatever is in it, unless stop is closed before. Then the next process that makes
// such folders removes it.
func (z *zygote) removeScratch(stop <-chan struct{}) error {
	defer z.release()
	return sandbox.RemoveUntil(stop, z.scratch)
}

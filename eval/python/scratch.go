package python

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// scratchName begins the names of candidates' temporary folders; a number follows.
const scratchName = "evoalloc-python-"

// newScratch makes the temporary folder for the candidates of one interpreter, and claims it until release is called.
// It also removes such folders of killed processes.
func newScratch() (dir string, release func(), err error) {
	claim.Sweep(os.TempDir(), scratchName, sandbox.Remove)
	if dir, release, err = claim.Folder(scratchName); err != nil {
		return "", nil, fmt.Errorf("python: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		release()
		return "", nil, errors.Join(fmt.Errorf("python: finding the temporary folder: %w", err), os.Remove(dir))
	}
	return real, release, nil
}

// removeScratch removes the folder and everything in it. If stop is closed first, it leaves the folder to the next
// process that makes such folders.
func (z *zygote) removeScratch(stop <-chan struct{}) error {
	defer z.release()
	return sandbox.RemoveUntil(stop, z.scratch)
}

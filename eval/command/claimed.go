package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// The beginnings of the names of temporary folders; a number follows.
const (
	placeName = "evoalloc-command-step-"
	layerName = "evoalloc-layer-of-"
)

// sweep removes the temporary folders of killed processes.
func sweep() {
	for _, name := range []string{placeName, layerName} {
		claim.Sweep(os.TempDir(), name, sandbox.Remove)
	}
}

// A claimed is a temporary folder that other processes leave alone until this one removes it, or has ended.
type claimed struct {
	dir     string // "" if there is none
	release func()
}

// placed makes the folder of a job with a Place. Where that is in use it has another name.
func placed(number uint64) (claimed, error) {
	if dir := filepath.Join(os.TempDir(), fmt.Sprint(placeName, number)); number > 0 {
		if release, err := claim.Named(dir, sandbox.Remove); err == nil {
			return claimed{dir, release}, nil
		}
	}
	return newClaimed(placeName)
}

// newClaimed makes a folder whose name begins so.
func newClaimed(name string) (c claimed, err error) {
	if c.dir, c.release, err = claim.Folder(name); err != nil {
		return claimed{}, fmt.Errorf("command: %w", err)
	}
	return c, nil
}

func (c claimed) remove() error {
	if c.dir == "" {
		return nil
	}
	defer c.release()
	return sandbox.Remove(c.dir)
}

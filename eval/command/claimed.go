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
	claim.Sweep(os.TempDir(), placeName, sandbox.Remove)
	claim.Sweep(os.TempDir(), layerName, sandbox.Remove)
}

// A claimed is a temporary folder that other processes leave alone until this one removes it, or has ended.
type claimed struct {
	dir     string // "" if there is none
	release func()
}

// placed makes the folder of a step, where the job says if that is free.
func placed(job *Job) (claimed, error) {
	if job != nil && job.Place > 0 {
		dir := filepath.Join(os.TempDir(), fmt.Sprint(placeName, job.Place))
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

// remove removes the folder, or leaves that to the next process.
func (c claimed) remove(leave bool) error {
	if c.dir == "" {
		return nil
	}
	defer c.release()
	if leave {
		return nil
	}
	return sandbox.Remove(c.dir)
}

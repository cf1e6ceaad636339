package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Layer shows the folder Base to a contained process in the place of the folder Target, with what Upper holds on top
// of it. What the process changes there goes to Upper, and Base stays as it is. Paths are absolute and without links.
type Layer struct {
	Base   string
	Upper  string // on the same disk as Work
	Work   string // an empty folder, for the kernel
	Target string
	// Deleted are paths of files below Base that Upper is to hide, and Cleared those of folders, for which [Layer.Clear]
	// was called. None of them leads through a link.
	Deleted, Cleared []string
	ReadOnly         bool // the process can change nothing there
	// Time is that of folders in which something is hidden; the zero Time means when that was done.
	Time time.Time
}

// Clear prepares Upper to hide the folders of Cleared: they are there, and hide what Base has in them, until a process
// begins, which removes them.
func (l Layer) Clear() error {
	for _, name := range l.Cleared {
		path := filepath.Join(l.Upper, filepath.FromSlash(name))
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("sandbox: making a layer: %w", err)
		}
		if err := makeOpaque(path); err != nil {
			return fmt.Errorf("sandbox: hiding a folder of a layer: %w", err)
		}
	}
	return nil
}

// Layering returns a plan like p whose processes find layers. See [Plan.TryLayer].
func (p *Plan) Layering(layers []Layer) *Plan {
	q := *p
	q.layers = append(slices.Clone(p.layers), layers...)
	return &q
}

// Date gives what lies below dir, and in the layers, the time at, so that a process that is started again finds no other
// times. The zero Time changes nothing.
func Date(at time.Time, dir string, layers []Layer) error {
	if at.IsZero() {
		return nil
	}
	dirs := []string{dir}
	for i := range layers {
		layers[i].Time = at
		dirs = append(dirs, layers[i].Upper)
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type()&fs.ModeSymlink == 0 {
				err = os.Chtimes(path, at, at)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("sandbox: setting the times of files: %w", err)
		}
	}
	return nil
}

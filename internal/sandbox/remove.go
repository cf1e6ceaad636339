package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove removes a folder that a candidate may have made hard to remove.
func Remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	walk := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700) // WalkDir calls this before it reads the folder
		}
		return err
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("sandbox: removing a candidate's folder: %w", errors.Join(err, walk))
	}
	return nil
}

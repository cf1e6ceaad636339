// Package atomicfile replaces files as a whole.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write replaces the file at path with what write writes. It writes a temporary file beside path, syncs it and renames
// it, so a reader finds the old content or the new, even after a loss of power. It makes missing folders. The umask
// decides who else may read the file. If write fails, the old file stays.
func Write(path string, write func(io.Writer) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // if it is still there
	// Synced before the rename: a file system may make the name durable before the content, and then a loss of
	// power would leave an empty file in the place of the old one.
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Check returns an error if [Write] could not write to path. It makes its folders and a temporary file beside it.
func Check(path string) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a folder")
	}
	return nil
}

// create makes a temporary file beside path, as a rename cannot cross file systems. Its mode is what the umask leaves of
// 0666, and not os.CreateTemp's 0600.
func create(path string) (*os.File, error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%d", name, rand.Uint64()))
	return os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// syncDir makes a rename in dir durable, where the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) &&
		!errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

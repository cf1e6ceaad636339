package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Save writes v to path as [Write] does. It writes a temporary file beside path, syncs it and renames it,
// so that a reader finds the old content or the new, never a part. It makes the folders that are missing.
// The umask decides who else may read the file. Temporary files for path that were left by processes that
// were killed it removes.
func Save(path string, v any) error {
	return save(path, func(w io.Writer) error { return write(w, v) })
}

// SaveFile writes data to path in the manner of [Save].
func SaveFile(path string, data []byte) error {
	return save(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func save(path string, write func(io.Writer) error) error {
	if err := replace(path, write); err != nil {
		return fmt.Errorf("report: saving %s: %w", path, err)
	}
	return nil
}

// replace puts what write writes in the place of the file at path.
func replace(path string, write func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	removeLeft(path)
	f, release, err := createTemp(path)
	if err != nil {
		return err
	}
	defer release()
	defer func() {
		if err != nil {
			os.Remove(f.Name()) // err says what matters
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename in dir durable, where the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// CheckWritable reports whether [Save] could write to path, by making its folders and a temporary file
// beside it: before the first call is paid for, not after the last. It removes what Save does.
func CheckWritable(path string) error {
	if err := checkWritable(path); err != nil {
		return fmt.Errorf("report: cannot write %s: %w", path, err)
	}
	return nil
}

func checkWritable(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	removeLeft(path)
	f, release, err := createTemp(path)
	if err != nil {
		return err
	}
	defer release()
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a folder")
	}
	return nil
}

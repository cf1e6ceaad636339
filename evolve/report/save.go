package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Save writes v to path as JSON, indented by two spaces and without escapes for HTML. It does not hold a [Greedy] or a
// [Bandit] in memory as JSON. It writes a temporary file beside path, syncs it and renames it, so a reader finds the old
// content or the new, even after a loss of power. It makes missing folders, and removes temporary files for path of
// processes that were killed. The umask decides who else may read the file.
func Save(path string, v any) error {
	return save(path, func(w io.Writer) error { return write(w, v) })
}

// SaveFile writes data to path as [Save] does, for what stands beside a result, such as the best program.
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

// replace replaces the file at path with what write writes. If write fails, the old file stays.
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
	// Synced before the rename: a file system may make the name durable before the content, and then a loss of
	// power would leave an empty file in the place of the old result.
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
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) &&
		!errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// CheckWritable returns an error if [Save] could not write to path. It makes its folders and a temporary file beside it.
// Call it before the first call is paid for. Like Save it removes what killed processes left.
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

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Save writes v, indented, to path: to a temporary file beside it that is synced and renamed, so
// that a reader finds the old content or the new, never a part. It makes the folders.
func Save(path string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("report: saving %s: %w", path, err)
	}
	return SaveFile(path, b.Bytes())
}

// SaveFile writes data to path as [Save] does.
func SaveFile(path string, data []byte) error {
	if err := save(path, data); err != nil {
		return fmt.Errorf("report: saving %s: %w", path, err)
	}
	return nil
}

func save(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name()) // err says what matters
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
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

// CheckWritable reports whether [SaveFile] could write to path, by making its folders and a
// temporary file beside it: before the first call is paid for, not after the last.
func CheckWritable(path string) error {
	dir := filepath.Dir(path)
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".check.*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if info, e := os.Stat(path); err == nil && e == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		return fmt.Errorf("report: cannot write %s: %w", path, err)
	}
	return nil
}

package result

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Write writes v to w as JSON, indented by two spaces and without escapes for HTML, as an encoder of encoding/json with
// these settings does. Such an encoder holds all of its output in memory; Write holds a child's worth, since nearly all
// of a file is children.
func Write(w io.Writer, v any) error {
	err := json.MarshalWrite(w, v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

// Save writes v to path as [Write] does. It writes a temporary file beside path, syncs it and renames it, so a reader
// finds the old content or the new, even after a loss of power. It makes missing folders. The umask decides who else may
// read the file.
func Save(path string, v any) error {
	return save(path, func(w io.Writer) error { return Write(w, v) })
}

// SaveFile writes data to path as [Save] does, for what stands beside a result, such as the best program.
func SaveFile(path string, data []byte) error {
	return save(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// save replaces the file at path with what write writes. If write fails, the old file stays.
func save(path string, write func(io.Writer) error) (err error) {
	f, err := createTemp(path)
	defer func() {
		if err != nil {
			err = fmt.Errorf("result: saving %s: %w", path, err)
		}
	}()
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // if it is still there
	// Synced before the rename: a file system may make the name durable before the content, and then a loss of
	// power would leave an empty file in the place of the old result.
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// createTemp makes a temporary file beside path, as a rename cannot cross file systems. Its mode is what the umask
// leaves of 0666, and not os.CreateTemp's 0600.
func createTemp(path string) (*os.File, error) {
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
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

// CheckWritable returns an error if [Save] could not write to path. It makes its folders and a temporary file beside it.
// Call it before the first call is paid for.
func CheckWritable(path string) error {
	f, err := createTemp(path)
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if info, bad := os.Stat(path); err == nil && bad == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		return fmt.Errorf("result: cannot write %s: %w", path, err)
	}
	return nil
}

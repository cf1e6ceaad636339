package result

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/evoalloc/evoalloc/internal/atomicfile"
)

// Write writes v to w as JSON, indented by two spaces and without escapes for HTML, as an encoder of encoding/json with
// these settings does. Such an encoder holds all of its output in memory; Write holds a buffer's worth.
func Write(w io.Writer, v any) error {
	err := json.MarshalWrite(w, v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

// Save writes v to path as [Write] does. A reader finds the old content or the new, even after a loss of power. Save
// makes missing folders. The umask decides who else may read the file.
func Save(path string, v any) error {
	return saved(path, atomicfile.Write(path, func(w io.Writer) error { return Write(w, v) }))
}

// SaveFile writes data to path as [Save] does, for what stands beside a result, such as the best program.
func SaveFile(path string, data []byte) error {
	return saved(path, atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}))
}

// CheckWritable returns an error if [Save] could not write to path. It makes its folders and a temporary file beside it.
// Call it before the first call is paid for.
func CheckWritable(path string) error { return saved(path, atomicfile.Check(path)) }

func saved(path string, err error) error {
	if err != nil {
		return fmt.Errorf("result: saving %s: %w", path, err)
	}
	return nil
}

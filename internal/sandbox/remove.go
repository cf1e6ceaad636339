package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrStopped means that a removal was stopped before its end.
var ErrStopped = errors.New("stopped before its end")

// Remove removes a folder that a candidate may have made hard to remove: by modes that deny access, by nesting deeper
// than the limits on open files and path lengths, or by more entries than fit into memory. [os.RemoveAll] has a file
// open for each level, and can leave none for the rest of this process.
func Remove(dir string) error { return RemoveUntil(nil, dir) }

// RemoveUntil is Remove, and gives up with [ErrStopped] once stop is closed: a candidate can nest so many folders in
// seconds that removing them takes minutes.
func RemoveUntil(stop <-chan struct{}, dir string) error {
	var err error
	for range 3 { // a process that dies can still make files
		err = empty(stop, dir)
		if errors.Is(err, ErrStopped) {
			return fmt.Errorf("sandbox: removing a candidate's folder %s: %w", dir, err)
		}
		gone := os.Remove(dir)
		if gone == nil || errors.Is(gone, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = gone
		}
	}
	text := err.Error()
	const most = 300 // a name has up to 255 bytes, a path any number
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Errorf("sandbox: removing a candidate's folder %s: %s", dir, text)
}

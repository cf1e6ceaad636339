package claim

import (
	"errors"
	"fmt"
	"os"
)

// Folder makes a temporary folder whose name is prefix and a number, and marks it as in use until release is called.
func Folder(prefix string) (dir string, release func(), err error) {
	for range 100 { // another process may remove the folder before it is claimed
		if dir, err = os.MkdirTemp("", prefix); err != nil {
			return "", nil, fmt.Errorf("making a temporary folder: %w", err)
		}
		if release, err = Take(dir); !errors.Is(err, ErrGone) {
			break
		}
		_ = os.Remove(dir) // fails where another process did it
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("claiming the temporary folder %s: %w", dir, err), os.Remove(dir))
	}
	return dir, release, nil
}

// Named makes the folder at path, in the place of one that a killed process left there, and marks it as in use until
// release is called.
func Named(path string, remove func(path string) error) (release func(), err error) {
	err = os.Mkdir(path, 0o700)
	if errors.Is(err, os.ErrExist) {
		sweep(path, remove)
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder: %w", err)
	}
	return Take(path)
}

//go:build !unix || solaris || aix

package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// noLocks is no error of this system.
var noLocks = errors.New("no locks")

// lock takes the file for this process by a second file beside it, which a killed process leaves.
func lock(_ *os.File, path string) (unlock func() error, err error) {
	name := path + ".lock"
	l, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w (if none has, because it was killed, remove %s)", ErrLocked, name)
	}
	if err != nil {
		return nil, err
	}
	return func() error { return os.Remove(name) }, l.Close()
}

// held reports whether the second file is there. It is also after a kill.
func held(_ *os.File, path string) (bool, error) {
	_, err := os.Stat(path + ".lock")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// syncDir does nothing. Whether names are durable is up to this system.
func syncDir(string) error { return nil }

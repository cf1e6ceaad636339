package wal

import (
	"errors"
	"fmt"
	"os"
)

// ErrGone is returned when somebody else moved, deleted, cut or wrote the file while it was open. What is
// appended after that would be lost, or would damage what the other wrote.
var ErrGone = errors.New("it is no longer the file that was opened")

// unchanged returns an error if the file does not end where the last line does. If a cut went unnoticed, the
// system would fill it with zeros when the next line is written.
func (l *Log) unchanged() error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size != l.end {
		return fmt.Errorf("%w: it has %d bytes, and %d were written", ErrGone, size, l.end)
	}
	return nil
}

// there returns an error if the file's name now leads to another file or to none, or if the file ends before
// end, up to which lines were written.
func (l *Log) there(end int64) error {
	named, err := os.Stat(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: it was moved or deleted", ErrGone)
	}
	if err != nil {
		return err
	}
	own, err := l.f.Stat()
	if err != nil {
		return err
	}
	switch {
	case !os.SameFile(named, own):
		return fmt.Errorf("%w: another stands in its place", ErrGone)
	case own.Size() < end:
		return fmt.Errorf("%w: it has %d bytes, and %d were written", ErrGone, own.Size(), end)
	}
	return nil
}

package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/internal/wal"
)

// What a reading finds while a run cuts a torn end off and writes over it passes. What stays is an error.
func TestDamageThatPasses(t *testing.T) {
	for _, c := range []struct {
		reason string
		err    error
		passes bool
	}{
		{"a part of a torn line and a part of what is written over it", &wal.DamageError{Line: 3}, true},
		{"the same of the first line", wal.ErrNotLog, true},
		{"the torn first line was cut off after the file's length was asked for", io.EOF, true},
		{"the file cannot be read", fs.ErrPermission, false},
	} {
		f := &follower{}
		for reading := 1; reading <= 3; reading++ {
			got := f.damage(c.err)
			if passed := got == nil; passed != (c.passes && reading < 3) || !passed && !errors.Is(got, c.err) {
				t.Errorf("reading %d: %v: %s", reading, got, c.reason)
			}
		}
	}
}

// Readings count as damaged only if they are so in a row.
func TestDamageIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	if err := os.WriteFile(path, []byte(`{"i":0,"ki`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &follower{path: path}
	defer f.close()
	for range 5 {
		if err := f.damage(io.EOF); err != nil {
			t.Fatal(err)
		}
		for r, err := range f.more { // finds the beginning of a first line, which is sound as far as it goes
			t.Fatal(r, err)
		}
	}
}

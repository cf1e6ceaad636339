package wal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What somebody does to the file under an open log is an error before the next line is taken to be safe.
func TestFileThatIsGone(t *testing.T) {
	for _, tt := range []struct {
		reason, says string
		do           func(path string) error
	}{
		{"deleted", "moved or deleted", os.Remove},
		{"moved", "moved or deleted", func(path string) error { return os.Rename(path, path+".old") }},
		{"its folder moved", "moved or deleted", func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")
		}},
		{"replaced by a copy", "another stands", func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path))
		}},
		{"cut to nothing", "it has 0 bytes", func(path string) error { return os.Truncate(path, 0) }},
		{"cut by a byte", "bytes, and", func(path string) error {
			info, err := os.Stat(path)
			return errors.Join(err, os.Truncate(path, info.Size()-1))
		}},
		{"written by others", "bytes, and", func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("a note\n")
				err = errors.Join(err, f.Close())
			}
			return err
		}},
	} {
		dir := filepath.Join(t.TempDir(), "runs")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "log")
		l, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		add := func(text string) error {
			p, err := l.Append(object{text, 1})
			if err == nil {
				err = l.Sync(p)
			}
			return err
		}
		if err := add("before"); err != nil {
			t.Fatal(err)
		}
		if err := tt.do(path); err != nil {
			t.Fatal(err)
		}
		for range 2 { // it stays so
			if err := add("after"); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want ErrGone that says %q", tt.reason, err, tt.says)
			}
		}
		l.Close()
	}
}

// A log by a relative name is the same file after the process has changed its folder.
func TestFolderOfTheProcessMayChange(t *testing.T) {
	t.Chdir(t.TempDir())
	l, err := Create("log")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Chdir(t.TempDir())
	p, err := l.Append(object{"text", 1})
	if err := errors.Join(err, l.Sync(p)); err != nil {
		t.Error(err)
	}
}

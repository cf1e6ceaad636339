//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// TestRemoveDeep removes folders that are nested deeper than files can be open and paths can be long, some
// closed to everybody, with others beside them.
func TestRemoveDeep(t *testing.T) {
	const files = 64
	depth := notrun.Length(301, 1500)
	dir := filepath.Join(t.TempDir(), "d")
	nest(t, dir, depth)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = files
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	err := Remove(dir)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// nest makes folders in each other, every hundredth with others and files beside it.
func nest(t *testing.T, dir string, depth int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o700))
	at, err := unix.Open(dir, unix.O_RDONLY, 0)
	must(err)
	for i := range depth {
		if i%100 == 0 {
			for j := range 3 {
				must(unix.Mkdirat(at, fmt.Sprintf("beside%d", j), 0))
				must(unix.Symlinkat("/", at, fmt.Sprintf("link%d", j)))
			}
		}
		const name = "a folder with quite a name"
		must(unix.Mkdirat(at, name, 0o700))
		next, err := unix.Openat(at, name, unix.O_RDONLY, 0)
		must(err)
		if i%7 == 0 {
			must(unix.Fchmod(at, 0))
		}
		must(unix.Close(at))
		at = next
	}
	must(unix.Close(at))
}

// A removal ends when it is stopped, and another one removes the rest.
func TestRemoveUntil(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	nest(t, dir, 101)
	stop := make(chan struct{})
	close(stop)
	if err := RemoveUntil(stop, dir); !errors.Is(err, ErrStopped) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := os.Lstat(dir); err != nil {
		t.Errorf("the folder: %v", err)
	}
	if err := RemoveUntil(make(chan struct{}), dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// A removal leaves the files that this process can open to the rest of it: beside it, opening one gives a low number.
func TestRemoveOpensFew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	nest(t, dir, 701)
	number := func() int {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = unix.Close(fd)
		return fd
	}
	before, highest := number(), 0
	done := make(chan error, 1)
	go func() { done <- Remove(dir) }()
	for {
		select {
		case err := <-done:
			if err != nil || highest > before+100 {
				t.Errorf("beside a removal, files have numbers up to %d, and %d before it; %v", highest, before, err)
			}
			return
		default:
			highest = max(highest, number())
		}
	}
}

// Folders with more entries than are listed at once are removed, with what is in the folders among these.
func TestRemoveMany(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range atOnce + 100 {
		file := filepath.Join(dir, fmt.Sprint(i))
		if i%10 == 0 {
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
			file = filepath.Join(file, "file")
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

package result_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/result"
)

// names returns the names of what is in dir.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSaveFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "result.json")
	for _, want := range []string{"old", "new"} {
		if err := result.SaveFile(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := result.SaveFile(filepath.Join(path, "under-a-file.json"), nil); err == nil ||
		!strings.Contains(err.Error(), "under-a-file.json") {
		t.Errorf("error %v, want one that names the path", err)
	}
}

// marshals is a value whose JSON is what a function returns.
type marshals func() ([]byte, error)

func (m marshals) MarshalJSON() ([]byte, error) { return m() }

// What cannot be saved whole leaves the file as it was, and nothing beside it.
func TestSaveKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	if err := result.Save(path, "old"); err != nil {
		t.Fatal(err)
	}
	errNot := errors.New("not today")
	rows := []any{strings.Repeat("x", 1<<20), marshals(func() ([]byte, error) { return nil, errNot })}
	if err := result.Save(path, rows); !errors.Is(err, errNot) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "\"old\"\n" {
		t.Errorf("the file holds %.20q, %v", got, err)
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reason, path string
		ok           bool
	}{
		{"its folder is made", filepath.Join(dir, "x", "y.json"), true},
		{"it exists", file, true},
		{"its folder is a file", filepath.Join(file, "y.json"), false},
		{"it is a folder", dir, false},
	} {
		if err := result.CheckWritable(tt.path); (err == nil) != tt.ok {
			t.Errorf("%s: CheckWritable(%s) = %v", tt.reason, tt.path, err)
		}
	}
	if left := names(t, filepath.Join(dir, "x")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Saves to one path do not disturb each other.
func TestSavesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.json")
	errs := make(chan error)
	for range 8 {
		go func() {
			var err error
			for range 20 {
				err = errors.Join(err, result.SaveFile(path, []byte("whole")))
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "whole" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/report"
)

func TestSaveFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "result.json")
	for _, want := range []string{"old", "new"} {
		if err := report.SaveFile(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := report.SaveFile(filepath.Join(path, "under-a-file.json"), nil); err == nil || !strings.Contains(err.Error(), "under-a-file.json") {
		t.Errorf("error %v, want one that names the path", err)
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		ok   bool
	}{
		{filepath.Join(dir, "x", "y.json"), true},
		{file, true},
		{filepath.Join(file, "y.json"), false},
		{dir, false},
	} {
		if err := report.CheckWritable(tt.path); (err == nil) != tt.ok {
			t.Errorf("CheckWritable(%s) = %v", tt.path, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "x")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

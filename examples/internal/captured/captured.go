// Package captured lets tests of the examples read their output.
package captured

import (
	"os"
	"path/filepath"
	"testing"
)

// Output returns f's standard output and standard error. Tests that call it must not run in parallel.
func Output(t testing.TB, f func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = file, file
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	f()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

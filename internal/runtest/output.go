package runtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Stopper is a writer that calls Stop once At is among what was written.
type Stopper struct {
	strings.Builder
	At   string
	Stop func()
}

func (s *Stopper) Write(p []byte) (int, error) {
	n, err := s.Builder.Write(p)
	if strings.Contains(s.String(), s.At) {
		s.Stop()
	}
	return n, err
}

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

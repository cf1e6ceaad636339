//go:build unix

package evolve_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// What was paid for is its owner's to read, whatever the umask.
func TestModesOfJournals(t *testing.T) {
	for _, umask := range []int{0o077, 0o022, 0} {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		old := syscall.Umask(umask)
		t.Cleanup(func() { syscall.Umask(old) })
		j, err := journal.Open(in("journal"), journal.Config{})
		must(t, err)
		must(t, j.Close())
		_, _, err = journal.Salvage(in("journal"), in("salvaged"))
		must(t, err)
		syscall.Umask(old)
		for _, name := range []string{"journal", "salvaged"} {
			info, err := os.Stat(in(name))
			must(t, err)
			if got := info.Mode().Perm(); got != 0o600 {
				t.Errorf("umask %03o: the %s has mode %03o, want 600", umask, name, got)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

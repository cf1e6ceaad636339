//go:build unix

package result_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/result"
)

// The umask decides who may read a result.
func TestModes(t *testing.T) {
	for umask, want := range map[int]fs.FileMode{0o077: 0o600, 0o027: 0o640, 0o022: 0o644, 0: 0o666} {
		path := filepath.Join(t.TempDir(), "result.json")
		old := syscall.Umask(umask)
		err := result.Save(path, 1)
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("umask %03o: %v, %v, want mode %03o", umask, info.Mode(), err, want)
		}
	}
}

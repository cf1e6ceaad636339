package sweep_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/sweep"
)

// Each run's journal says how the sweep is made again.
func TestJournalsHaveTheCommand(t *testing.T) {
	dir := t.TempDir()
	made(t, grid(2, []int{4}, sweep.Greedy(2)), sweep.Config{Dir: dir, Command: "sweep --small"})
	journals := 0
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if !strings.HasSuffix(path, ".journal") {
			return err
		}
		journals++
		for r, err := range record.Read(path) {
			if err != nil || r.Kind == record.Incarnation && r.Command != "sweep --small" {
				t.Errorf("%s: the command is %q: %v", path, r.Command, err)
			}
		}
		return nil
	})
	if err != nil || journals != 2 {
		t.Errorf("%d journals, want 2: %v", journals, err)
	}
}

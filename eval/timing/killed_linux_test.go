package timing

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/internal/claim"
)

// What a killed process left of its evaluations is removed by the next one, and what others use is left alone.
func TestLeftByKilled(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	left := filepath.Join(tmp, scratchName+"1234")
	if err := os.MkdirAll(filepath.Join(left, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	used, release, err := claim.Folder(scratchName)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	m := machine(t)
	if _, err := os.Stat(left); err == nil {
		t.Errorf("%s is left", left)
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("a folder in use: %v", err)
	}
	cfg := config()
	check, during := cfg.Check, 0
	cfg.Pairs = 1
	cfg.Check = func(in, want, got []byte) error {
		sweep() // as another process does that starts
		all, err := filepath.Glob(filepath.Join(tmp, scratchName+"*"))
		if during = len(all); err != nil {
			return err
		}
		return check(in, want, got)
	}
	e, err := m.Evaluator(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := e.Evaluate(t.Context(), seed); err != nil || !r.Valid || during != 3 {
		t.Errorf("%d folders while it ran, want those of both sides and the other one; %+v, %v", during, r, err)
	}
}

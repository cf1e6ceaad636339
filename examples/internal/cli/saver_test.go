package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// What a run left unfinished is kept apart, never replaced by what says less, and gone once the run is whole.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	s := saver{nil, filepath.Join(dir, "run.json"), ".txt"}
	for _, step := range []struct {
		reason string
		stop   evolve.Stop
		behind bool
		best   string
		want   map[string]string // the folder's content: best programs by file
	}{
		{"behind, and nothing better is there", evolve.StopCanceled, true, "1", map[string]string{"run.partial.txt": "1"}},
		{"stopped", evolve.StopCanceled, false, "2", map[string]string{"run.partial.txt": "2"}},
		{"stopped while it was made again", evolve.StopCanceled, true, "0", map[string]string{"run.partial.txt": "2"}},
		{"failed while it was made again", evolve.StopError, true, "0", map[string]string{"run.partial.txt": "2"}},
		{"failed later on", evolve.StopError, false, "3", map[string]string{"run.partial.txt": "3"}},
		{"ended", evolve.StopBudget, false, "4", map[string]string{"run.txt": "4"}},
	} {
		r := &evolve.Result{Stop: step.stop, Behind: step.behind, Best: eval.Candidate{Program: step.best}}
		if _, err := s.save(r, r); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 2*len(step.want) {
			t.Errorf("%s: %d files, %v, want a result and a program each of %v", step.reason, len(left), err, step.want)
		}
		for name, want := range step.want {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%s: %s holds %q, %v, want %q", step.reason, name, got, err, want)
			}
		}
	}
}

// A whole run that cannot be saved leaves what was saved before.
func TestSaveFails(t *testing.T) {
	dir := t.TempDir()
	s := saver{nil, filepath.Join(dir, "run.json"), ".txt"}
	r := &evolve.Result{Stop: evolve.StopCanceled, Best: eval.Candidate{Program: "1"}}
	if _, err := s.save(r, r); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path, 0o777); err != nil { // in the place of the result
		t.Fatal(err)
	}
	r.Stop = evolve.StopBudget
	if _, err := s.save(r, r); err == nil {
		t.Fatal("saved in the place of a folder")
	}
	for _, ext := range []string{".json", ".txt"} {
		if _, err := os.Stat(s.partial() + ext); err != nil {
			t.Error(err)
		}
	}
}

package tune_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
)

// killBudget ends in the middle of a tuning.
var killBudget = evolve.Budget{Calls: 24, TuneEvaluations: 330}

// journaled makes or resumes a run, and returns its result without times. on is what is tuned on.
func journaled(t *testing.T, path string, on func(*world) eval.Evaluator) (*world, *evolve.Result, map[string]any) {
	t.Helper()
	w := newWorld(t, start)
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r, err := w.run(t.Context(), &tune.Tuner{On: on(w)}, model(t), j, killBudget)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(report.NewGreedy(r, report.Header{Task: "waves", N: 4, T: 6}, 7))
	if err != nil {
		t.Fatal(err)
	}
	return w, r, killtest.Comparable(t, data)
}

// A run is cut off after each of its journal's records, and resumed. A tune evaluation whose record is there is not made
// again, and the result is that of a run that nobody disturbed.
func TestKilled(t *testing.T) {
	cheap := func(w *world) eval.Evaluator { return w.cheap() }
	path := filepath.Join(t.TempDir(), "run.journal")
	whole, r, want := journaled(t, path, cheap)
	if r.TuneEvaluations < 300 {
		t.Fatalf("%d tune evaluations: the test is about a budget that ends", r.TuneEvaluations)
	}
	for cut := range killtest.About(t, path, 2, 40) {
		w, _, got := journaled(t, cut.Path, cheap)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("cut after record %d it comes to another result:\n%.3000s", cut.Records, diff)
		}
		if made, had := w.made.Load(), int64(cut.Count("tuning")); made != whole.made.Load()-had {
			t.Errorf("cut after record %d, with %d tune evaluations of %d, %d are made", cut.Records, had, whole.made.Load(),
				made)
		}
	}
}

package evolve_test

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
)

// breadthJob is a run of three arms whose breadth is b. Calls take from half a second to more than two. All of a step
// are sent at once: were there a queue, its order would decide how long a step takes, and no two runs would be alike.
func breadthJob(t *testing.T, b evolve.Breadth, inFlight int) job {
	model := newCounting(slowly(func(req llm.Request) time.Duration {
		return 500*time.Millisecond + time.Duration(req.Seed%1777)*time.Millisecond
	}))
	return job{k: 3, n: 1, inFlight: inFlight, calls: 120, model: model, tweak: func(c *evolve.Config) {
		var err error
		if c.Arms, err = evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: model, Seed: 40, Breadth: b},
			3); err != nil {
			t.Fatal(err)
		}
	}}
}

// widths returns how many calls each draw in the file was granted.
func widths(t *testing.T, path string) (w []int) {
	for _, r := range records(t, path, record.Draw) {
		w = append(w, r.Calls)
	}
	return w
}

// A run whose breadth depends on how long steps took is killed after each record, long before it is resumed. The
// resumed run makes the decisions of the file again, and has the undisturbed run's result if no step was under way.
func TestBreadthIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := journalPath(t)
		_, want, err := breadthJob(t, breadth.Adaptive{Second: 5}, 1).run(t.Context(), t, whole)
		if err != nil {
			t.Fatal(err)
		}
		undisturbed := widths(t, whole)
		for cut := range killtest.Every(t, whole, 2, 5) {
			n, path := cut.Records, cut.Path
			before := widths(t, path)
			time.Sleep(time.Hour)
			jb := breadthJob(t, breadth.Adaptive{Second: 5}, 1)
			res, got, err := jb.run(t.Context(), t, path)
			if err != nil || res.Calls != 120 {
				t.Fatalf("killed after record %d, it ends after %d calls: %v", n, res.Calls, err)
			}
			if after := widths(t, path); !slices.Equal(before, after[:len(before)]) {
				t.Errorf("killed after record %d, it draws widths %v, and drew %v", n, after, before)
			}
			betweenSteps := cut.Last() == "report" || cut.Last() == "stop"
			if betweenSteps && (!bytes.Equal(want, got) || !slices.Equal(widths(t, path), undisturbed)) {
				t.Fatalf("killed after record %d, it comes to another result, with widths %v, want %v", n, widths(t, path),
					undisturbed)
			}
			sent := jb.model.(*counting).total()
			if _, again, err := jb.run(t.Context(), t, path); err != nil || jb.model.(*counting).total() != sent ||
				!bytes.Equal(got, again) {
				t.Errorf("killed after record %d and resumed, it is not reproduced: %v", n, err)
			}
		}
	})
}

// Time decides in the test above. There would be nothing to repeat otherwise.
func TestBreadthReadsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drawn [2][]int
		for i, second := range []float64{0, 5} {
			path := journalPath(t)
			if _, _, err := breadthJob(t, breadth.Adaptive{Second: second}, 1).run(t.Context(), t, path); err != nil {
				t.Fatal(err)
			}
			drawn[i] = widths(t, path)
		}
		if slices.Equal(drawn[0], drawn[1]) || slices.Max(drawn[1]) == slices.Min(drawn[1]) {
			t.Errorf("widths %v if a second is worth nothing, and %v if it is worth 5 calls", drawn[0], drawn[1])
		}
	})
}

// With several arms in flight a finished run is reproduced too.
func TestBreadthIsReproduced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := journalPath(t)
		var first []byte
		for i := range 2 {
			jb := breadthJob(t, breadth.Adaptive{Second: 5}, 2)
			_, got, err := jb.run(t.Context(), t, path)
			if err != nil {
				t.Fatal(err)
			}
			if sent := jb.model.(*counting).total(); i == 1 && (sent != 0 || !bytes.Equal(first, got)) {
				t.Errorf("made again it sends %d calls, equal %v", sent, bytes.Equal(first, got))
			}
			first = got
			time.Sleep(time.Hour)
		}
	})
}

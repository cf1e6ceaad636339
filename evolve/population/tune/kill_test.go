//go:build unix

package tune_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/evolve/report"
)

var times = regexp.MustCompile(`"(gen_time_s|wall_time_seconds|latency_s)": ?[-+.e0-9]+`)

// killBudget ends in the middle of a tuning.
var killBudget = evolve.Budget{Calls: 24, TuneEvaluations: 330}

// journaled makes or resumes a run, and returns its result without times. on is what is tuned on.
func journaled(t *testing.T, path string, on func(*world) eval.Evaluator) (*world, *evolve.Result, any) {
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
	var x map[string]any
	if err := json.Unmarshal(times.ReplaceAll(data, []byte(`"$1": 0`)), &x); err != nil {
		t.Fatal(err)
	}
	delete(x, "all_lives")
	return w, r, x
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
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for n := 2; n < len(lines); n += 1 + len(lines)/40 {
		cut := filepath.Join(t.TempDir(), "cut.journal")
		kept := bytes.Join(lines[:n], nil)
		if err := os.WriteFile(cut, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		w, _, got := journaled(t, cut, cheap)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("cut after record %d it comes to another result:\n%.3000s", n, diff)
		}
		if made, had := w.made.Load(), int64(bytes.Count(kept, []byte(`"kind":"tuning"`))); made != whole.made.Load()-had {
			t.Errorf("cut after record %d, with %d tune evaluations of %d, %d are made", n, had, whole.made.Load(), made)
		}
	}
}

const killDir = "TUNE_KILL_DIR"

// slow takes its time, so that a kill comes in the middle.
type slow struct{ waves }

func (s slow) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	time.Sleep(2 * time.Millisecond)
	return s.waves.Evaluate(ctx, program)
}

// A program that tunes is killed at random instants and resumed each time. It comes to the result of one that nobody
// disturbed.
func TestSIGKILL(t *testing.T) {
	on := func(w *world) eval.Evaluator { return slow{waves{&w.made}} }
	if dir := os.Getenv(killDir); dir != "" {
		_, _, got := journaled(t, filepath.Join(dir, "run.journal"), on)
		data, err := json.Marshal(got)
		if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "result.json"), data, 0o600)); err != nil {
			t.Fatal(err)
		}
		return
	}
	run := func(dir string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSIGKILL$")
		cmd.Env, cmd.Stderr = append(os.Environ(), killDir+"="+dir), os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	read := func(dir string) (x any) {
		data, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err := errors.Join(err, json.Unmarshal(data, &x)); err != nil {
			t.Fatal(err)
		}
		return x
	}
	undisturbed, begin := t.TempDir(), time.Now()
	if err := run(undisturbed).Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	dir, r, killed := t.TempDir(), rand.New(rand.NewPCG(3, 3)), atomic.Int64{}
	for range 4 {
		cmd := run(dir)
		time.Sleep(time.Duration(r.Int64N(int64(took))) + time.Millisecond)
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		if err := cmd.Wait(); err != nil {
			if cmd.ProcessState.ExitCode() > 0 {
				t.Fatalf("the run failed: %v", err)
			}
			killed.Add(1)
		}
	}
	if err := run(dir).Wait(); err != nil {
		t.Fatal(err)
	}
	if killed.Load() == 0 {
		t.Log("every run had ended before it was killed")
	}
	if diff := cmp.Diff(read(undisturbed), read(dir)); diff != "" {
		t.Errorf("the killed run comes to another result:\n%.3000s", diff)
	}
	tunings := 0
	for rec, err := range journal.Read(filepath.Join(dir, "run.journal")) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind == journal.Tuning {
			tunings++
		}
	}
	if want := read(dir).(map[string]any)["tune_evaluations"]; fmt.Sprint(want) != fmt.Sprint(tunings) {
		t.Errorf("%d tune evaluations in the journal, %v in the result", tunings, want)
	}
}

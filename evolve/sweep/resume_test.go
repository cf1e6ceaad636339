package sweep_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// mixed is a plan with each kind of method.
func mixed(n int) sweep.Plan {
	return grid(n, []int{12, 24}, sweep.Greedy(1), sweep.Greedy(6), sweep.Bandit("ucb", 3, 2, ucb))
}

// Stopped and gone on with, a sweep comes to what one that nobody disturbed does, with as many calls.
func TestResume(t *testing.T) {
	whole := mixed(4)
	model, calls := counted(whole.Models[0], nil)
	whole.Models[0] = model
	want := made(t, whole, sweep.Config{Dir: t.TempDir()})
	needed, _ := whole.Cost()
	if calls.total() != needed.Calls {
		t.Errorf("%d calls, want %d", calls.total(), needed.Calls)
	}

	p, dir := mixed(4), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	model, calls = counted(p.Models[0], func(_ context.Context, n int) error {
		if n == 100 {
			cancel()
		}
		return nil
	})
	p.Models[0] = model
	first, err := p.Run(ctx, sweep.Config{Dir: dir, Grace: time.Hour, AtOnce: 3})
	if err != nil || first.Left == 0 || first.Left+first.Finished != needed.Runs {
		t.Fatalf("stopped: %+v, %v", first, err)
	}
	if calls.total() < 100 || calls.total() >= needed.Calls {
		t.Fatalf("%d calls until it stopped", calls.total())
	}
	known := 0
	again := made(t, p, sweep.Config{Dir: dir, AtOnce: 7, Calls: 3, Observer: func(e sweep.Event) {
		if e.Kind == sweep.EventKnown {
			known++
		}
	}})
	if known != first.Finished {
		t.Errorf("%d runs were known, %d were finished", known, first.Finished)
	}
	if calls.total() != needed.Calls {
		t.Errorf("%d calls in all, want %d", calls.total(), needed.Calls)
	}
	for range 2 {
		if diff := cmp.Diff(want.Scores, again.Scores); diff != "" {
			t.Errorf("another result (-undisturbed +resumed):\n%s", diff)
		}
		again = made(t, p, sweep.Config{Dir: dir}) // over: nothing is asked
		if calls.total() != needed.Calls {
			t.Errorf("%d calls after the end, want %d", calls.total(), needed.Calls)
		}
	}
}

// A folder is not gone on with by another plan, and nothing is asked then.
func TestOtherSettings(t *testing.T) {
	dir := t.TempDir()
	p := grid(1, []int{8}, sweep.Greedy(4))
	p.Fingerprint = journal.Fingerprint{"limit": "1s"}
	made(t, p, sweep.Config{Dir: dir})
	begun := grid(1, []int{16}, sweep.Greedy(4))
	ctx, cancel := context.WithCancel(t.Context())
	begun.Models[0], _ = counted(begun.Models[0], func(context.Context, int) error { cancel(); return nil })
	if r, err := begun.Run(ctx, sweep.Config{Dir: dir}); err != nil || r.Left != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, tt := range []struct {
		reason string
		change func(*sweep.Plan)
		want   string
	}{
		{"another setting", func(p *sweep.Plan) { p.Fingerprint = journal.Fingerprint{"limit": "2s"} },
			`its limit is "1s", that of the plan "2s"`},
		{"another model", func(p *sweep.Plan) { p.Models[0].Spec.Temperature = 1.5 }, "its model is"},
		{"another method of the same name", func(p *sweep.Plan) { p.Methods[0].Settings = "second edition" },
			"second edition"},
		{"another task of the same name", func(p *sweep.Plan) { p.Tasks[0] = numberFrom("2") }, "its task is"},
		{"of a run that is not over, which its journal tells",
			func(p *sweep.Plan) { p.Budgets, p.Models[0].Spec.Temperature = []int{16}, 1.5 }, "model"},
	} {
		other := grid(1, []int{8}, sweep.Greedy(4))
		other.Fingerprint = journal.Fingerprint{"limit": "1s"}
		model, calls := counted(other.Models[0], nil)
		other.Models[0] = model
		tt.change(&other)
		_, err := other.Run(t.Context(), sweep.Config{Dir: dir})
		if !errors.Is(err, sweep.ErrOther) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want ErrOther that says %q", tt.reason, err, tt.want)
		}
		if calls.total() > 0 {
			t.Errorf("%s: %d calls", tt.reason, calls.total())
		}
	}
}

// A marker that is damaged is not taken for a finished run, nor made again in silence.
func TestDamagedMarker(t *testing.T) {
	for _, damaged := range []string{"", "{}", `{"rows":[`} {
		dir := t.TempDir()
		p := grid(1, []int{8}, sweep.Greedy(4))
		made(t, p, sweep.Config{Dir: dir})
		marker := filepath.Join(dir, p.Runs()[0].Path(".done"))
		if err := os.WriteFile(marker, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		model, calls := counted(p.Models[0], nil)
		p.Models[0] = model
		if _, err := p.Run(t.Context(), sweep.Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), marker) {
			t.Errorf("%q: %v, want an error that names the file", damaged, err)
		}
		if err := os.Remove(marker); err != nil {
			t.Fatal(err)
		}
		if made(t, p, sweep.Config{Dir: dir}); calls.total() > 0 {
			t.Errorf("%q: %d calls, though the journal has them", damaged, calls.total())
		}
	}
}

// A run that too many stalls ended does not end the sweep, is not taken for finished, and goes on with a larger limit.
func TestStalls(t *testing.T) {
	dir := t.TempDir()
	p := grid(2, []int{8}, sweep.Greedy(1), sweep.Greedy(4))
	hang := true
	inner := p.Models[0].LLM
	p.Models[0].LLM = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if hang && req.Seed == evolve.ChildSeed(40, 4, 1, 2) {
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Timeout, Err: "timeout"}}},
				&llm.Error{Status: llm.Timeout, Err: errors.New("timeout")}
		}
		return inner.Generate(ctx, req)
	})
	var limit string
	cfg := sweep.Config{Dir: dir, Stalls: 1, Retry: llm.RetryConfig{Max: 1}, Observer: func(e sweep.Event) {
		if e.Kind == sweep.EventPause {
			limit = e.Limit
		}
	}}
	r, err := p.Run(t.Context(), cfg)
	if err != nil || len(r.Unfinished) != 1 || r.Finished != 3 || limit != "Stalls" {
		t.Fatalf("%+v, %v; limit %q", r, err, limit)
	}
	if r, err = p.Run(t.Context(), cfg); err != nil || len(r.Unfinished) != 1 {
		t.Errorf("with the same limit: %+v, %v", r, err)
	}
	hang, cfg.Stalls = false, 100
	if r := made(t, p, cfg); r.Finished != 4 {
		t.Errorf("with a larger limit: %+v", r)
	}
}

// An error of one run stops the others, and names the run. What they paid for is kept.
func TestErrors(t *testing.T) {
	gone := errors.New("the interpreter is gone")
	p, dir := mixed(3), t.TempDir()
	broken := true
	tk, err := task.New(task.Spec{Name: "pi", Language: "text", Initial: "1",
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			if broken && strings.HasPrefix(program, "0.9") {
				return eval.Result{}, gone
			}
			return p.Tasks[0].Evaluate(ctx, program)
		})})
	if err != nil {
		t.Fatal(err)
	}
	q := p
	q.Tasks = []task.Task{tk}
	model, calls := counted(q.Models[0], nil)
	q.Models = []sweep.Model{model}
	r, err := q.Run(t.Context(), sweep.Config{Dir: dir, Grace: time.Hour, AtOnce: 2})
	if !errors.Is(err, gone) || !strings.Contains(err.Error(), "sweep: run ") || r.Left == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	broken = false
	made(t, q, sweep.Config{Dir: dir})
	if needed, _ := q.Cost(); calls.total() != needed.Calls {
		t.Errorf("%d calls in all, want %d", calls.total(), needed.Calls)
	}
}

// A method that does not make what it says is an error that names the run.
func TestWrongMethods(t *testing.T) {
	for _, tt := range []struct {
		method sweep.Method
		want   string
	}{
		{sweep.Method{Name: "none", N: 4, New: func(sweep.Setup) (sweep.Searches, error) { return sweep.Searches{}, nil }},
			"made 0 searches"},
		{sweep.Method{Name: "panics", N: 4, New: func(sweep.Setup) (sweep.Searches, error) { panic("out of luck") }},
			"New of method panics"},
		{sweep.Method{Name: "fails", N: 4, New: func(sweep.Setup) (sweep.Searches, error) {
			return sweep.Searches{}, errors.New("no luck")
		}}, "no luck"},
		{sweep.Method{Name: "seeds", N: 4, New: func(s sweep.Setup) (sweep.Searches, error) {
			list, err := sweep.Greedy(4).New(s)
			list.Seeds = []uint32{1, 2}
			return list, err
		}}, "2 seeds for 1"},
	} {
		p := grid(1, []int{8}, tt.method)
		if _, err := p.Run(t.Context(), sweep.Config{Dir: t.TempDir()}); err == nil ||
			!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "run pi/guess/"+tt.method.Name) {
			t.Errorf("%v, want it to say %q of the run", err, tt.want)
		}
	}
}

// Two sweeps in one folder would ask for the same children. The second is refused before it asks anything, and does not
// disturb the first.
func TestTwoInOneFolder(t *testing.T) {
	dir, first := t.TempDir(), mixed(2)
	begun, goOn := make(chan struct{}), make(chan struct{})
	first.Models[0], _ = counted(first.Models[0], func(_ context.Context, n int) error {
		if n == 0 {
			close(begun)
		}
		<-goOn
		return nil
	})
	type end struct {
		result *sweep.Result
		err    error
	}
	ended := make(chan end)
	go func() {
		r, err := first.Run(t.Context(), sweep.Config{Dir: dir, AtOnce: 1})
		ended <- end{r, err}
	}()
	<-begun
	second := mixed(2)
	model, calls := counted(second.Models[0], nil)
	second.Models[0] = model
	if _, err := second.Run(t.Context(), sweep.Config{Dir: dir}); !errors.Is(err, journal.ErrLocked) ||
		!strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want ErrLocked that names the folder", err)
	}
	if calls.total() > 0 {
		t.Errorf("the second made %d calls", calls.total())
	}
	close(goOn)
	if e := <-ended; e.err != nil || e.result.Left > 0 {
		t.Errorf("the first: %+v, %v", e.result, e.err)
	}
	if made(t, second, sweep.Config{Dir: dir}); calls.total() > 0 {
		t.Errorf("after the first, the second made %d calls", calls.total())
	}
}

// Runs from before the settings of models were recorded go on with any; others with their own alone.
func TestSettingsOfModels(t *testing.T) {
	for _, tt := range []struct {
		then, now string
		fits      bool
	}{{"", "price 1", true}, {"price 1", "price 1", true}, {"price 1", "price 2", false}, {"price 1", "", false}} {
		p, dir := grid(1, []int{8}, sweep.Greedy(4)), t.TempDir()
		p.Models[0].Settings = tt.then
		made(t, p, sweep.Config{Dir: dir})
		model, calls := counted(p.Models[0], nil)
		model.Settings = tt.now
		p.Models = []sweep.Model{model}
		for _, marked := range []bool{true, false} {
			if !marked { // killed before the mark was made
				if err := os.Remove(filepath.Join(dir, p.Runs()[0].Path(".done"))); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := p.Run(t.Context(), sweep.Config{Dir: dir}); tt.fits != (err == nil) || !tt.fits &&
				!errors.Is(err, sweep.ErrOther) {
				t.Errorf("%q after %q, marked %v: %v", tt.now, tt.then, marked, err)
			}
		}
		if n := calls.total(); n > 0 {
			t.Errorf("%q after %q: %d calls", tt.now, tt.then, n)
		}
	}
}

package tune_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/population/tune"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

const start = `# The sum of two waves.
def wave(x):
    a = 1.0
    b = 4.0
    c = 0.02
    n = 2
    return a * sin(b * x) + c * x ** n
`

// values returns the value of each name that the program assigns.
func values(program string) map[string]float64 {
	found := map[string]float64{}
	for line := range strings.Lines(program) {
		if name, v, ok := strings.Cut(line, " = "); ok {
			v, _, _ = strings.Cut(v, "#")
			if x, err := strconv.ParseFloat(strings.Trim(strings.TrimSpace(v), "()"), 64); err == nil {
				found[strings.TrimSpace(name)] = x
			}
		}
	}
	return found
}

// waves is how near the numbers are to those of the hidden function; n has to be 2.
type waves struct{ made *atomic.Int64 }

func (w waves) Evaluate(_ context.Context, program string) (eval.Result, error) {
	w.made.Add(1)
	v := values(program)
	if len(v) != 4 || v["n"] != 2 {
		return eval.Invalid("need a, b, c and n = 2"), nil
	}
	miss := math.Pow(v["a"]-1.7, 2) + math.Pow(v["b"]-3.1, 2) + 100*math.Pow(v["c"]-0.31, 2)
	return eval.Result{Valid: true, Score: 1 / (1 + miss)}.Clean(), nil
}

func (w waves) String() string { return "waves" }

// A world is a task with a cheap evaluator, both of which count what they are asked.
type world struct {
	task       task.Task
	real, made atomic.Int64
}

func newWorld(t *testing.T, program string) *world {
	w := &world{}
	var err error
	if w.task, err = task.New(task.Spec{Name: "waves", Language: "python", Initial: program,
		Evaluator: waves{&w.real}}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) cheap() eval.Evaluator { return waves{&w.made} }

// run makes a run of one population with a tuner.
func (w *world) run(ctx context.Context, o *tune.Tuner, model llm.LLM, j *journal.Journal, b evolve.Budget) (*evolve.Result, error) {
	p, err := population.New(population.Config{Task: w.task, LLM: model, N: 4, Seed: 7, Archive: population.Top(8),
		Select:    population.Uniform(),
		Operators: []population.Operator{population.Rewrite{}, o}})
	if err != nil {
		return nil, err
	}
	return evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{p}, Budget: b, Journal: j, Seed: 1})
}

func model(t *testing.T) llm.LLM {
	m, err := offline.New(offline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asked counts calls and passes what each is asked to look.
func asked(l llm.LLM, look func(string)) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		look(req.Messages[len(req.Messages)-1].Content)
		return l.Generate(ctx, req)
	})
}

func TestTunedRun(t *testing.T) {
	w := newWorld(t, start)
	var told, untold atomic.Int64
	m := asked(model(t), func(prompt string) {
		if strings.Contains(prompt, "numeric constants are tuned automatically") {
			told.Add(1)
		} else {
			untold.Add(1)
		}
	})
	r, err := w.run(t.Context(), &tune.Tuner{On: w.cheap()}, m, nil, evolve.Budget{Calls: 40, TuneEvaluations: 600})
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls != 40 || r.Best.Result.Score < 0.99 {
		t.Errorf("best %v after %d calls, want 0.99 after 40:\n%s", r.Best.Result.Score, r.Calls, r.Best.Program)
	}
	if n := int(w.made.Load()); r.TuneEvaluations != n || n == 0 || n > 600 || int(w.real.Load()) != r.Evaluations {
		t.Errorf("%d tune evaluations and %d real ones, the evaluators were asked for %d and %d", r.TuneEvaluations,
			r.Evaluations, n, w.real.Load())
	}
	tuned, children := 0, 0
	for _, g := range r.Arms[0].Generations {
		for _, c := range g.Children {
			if c.Operator == "tune" {
				children++
				if c.Asked() {
					t.Error("a tuned child was asked of a model")
				}
				if c.Scored() {
					tuned++
				}
			}
		}
	}
	if tuned == 0 || children == 0 {
		t.Errorf("%d of %d tunings made a child", tuned, children)
	}
	if told.Load() == 0 || told.Load()+untold.Load() != 40 {
		t.Errorf("%d calls were told that numbers are tuned, %d were not", told.Load(), untold.Load())
	}
	if !strings.Contains(r.Best.Program, "n = 2\n") ||
		!strings.HasPrefix(r.Best.Program, "# The sum of two waves.\ndef wave(x):\n") {
		t.Errorf("more than numbers has changed:\n%s", r.Best.Program)
	}
}

// Without tune evaluations in the budget nothing is tuned, and the model is not told that anything is.
func TestNoBudget(t *testing.T) {
	w := newWorld(t, start)
	m := asked(model(t), func(prompt string) {
		if strings.Contains(prompt, "tuned") {
			t.Error("told: " + prompt)
		}
	})
	r, err := w.run(t.Context(), &tune.Tuner{On: w.cheap()}, m, nil, evolve.Budget{Calls: 20})
	if err != nil || r.TuneEvaluations != 0 || w.made.Load() != 0 || len(r.Arms[0].Generations) != 5 {
		t.Errorf("%d tune evaluations, %d made, %d steps, %v", r.TuneEvaluations, w.made.Load(), len(r.Arms[0].Generations),
			err)
	}
}

// Two searches use one budget up. None passes it, the run goes on with calls, and what was found by then is used.
func TestBudgetEnds(t *testing.T) {
	w := newWorld(t, start)
	var arms []evolve.Arm
	for seed := range uint32(2) {
		p, err := population.New(population.Config{Task: w.task, LLM: model(t), N: 4, Seed: seed,
			Operators: []population.Operator{population.Rewrite{}, &tune.Tuner{On: w.cheap()}}})
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, p)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: bandit.Random{}, InFlight: 2,
		Budget: evolve.Budget{Calls: 60, TuneEvaluations: 50}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls != 60 || r.Stop != evolve.StopBudget || r.Limit != "Calls" || r.TuneEvaluations != int(w.made.Load()) ||
		r.TuneEvaluations > 50 {
		t.Errorf("stop %s %s after %d calls with %d tune evaluations, %d made", r.Stop, r.Limit, r.Calls, r.TuneEvaluations,
			w.made.Load())
	}
}

// The evaluator that is tuned on may be broken in every way.
func TestHostileEvaluators(t *testing.T) {
	gone := errors.New("the interpreter is gone")
	for _, tt := range []struct {
		name   string
		on     eval.Evaluator
		o      *tune.Tuner
		want   error
		says   string
		reason string
	}{
		{"gone", eval.Func(func(context.Context, string) (eval.Result, error) { return eval.Result{}, gone }), &tune.Tuner{},
			gone, "", "infrastructure ends the run"},
		{"panics", eval.Func(func(context.Context, string) (eval.Result, error) { panic("oops") }), &tune.Tuner{}, nil,
			"oops", "a panic ends the run with an error"},
		{"asks", eval.Func(func(ctx context.Context, _ string) (eval.Result, error) {
			_, err := llm.Ask(ctx, model(t), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "How good is it?"}}})
			return eval.Result{Valid: true}, err
		}), &tune.Tuner{}, nil, "asks a model", "a judge's calls would be calls of the run"},
		{"invalid", eval.Func(func(context.Context, string) (eval.Result, error) { return eval.Invalid("never"), nil }),
			&tune.Tuner{Evaluations: 50}, nil, "", "nothing is found"},
		{"NaN", eval.Func(func(context.Context, string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: math.NaN()}, nil
		}), &tune.Tuner{Evaluations: 50}, nil, "", "no NaN travels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, start)
			o := tt.o
			o.On = tt.on
			r, err := w.run(t.Context(), o, model(t), nil, evolve.Budget{Calls: 24, TuneEvaluations: 100})
			switch {
			case tt.want == nil && tt.says == "":
				if err != nil || r.Calls != 24 || r.TuneEvaluations == 0 {
					t.Errorf("%d calls, %d tune evaluations, %v: %s", r.Calls, r.TuneEvaluations, err, tt.reason)
				}
			case err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says):
				t.Errorf("error %v, want %v %q: %s", err, tt.want, tt.says, tt.reason)
			}
		})
	}
}

// A run that is canceled in the middle of a tuning ends, and goes on there.
func TestCanceledTuning(t *testing.T) {
	budget := evolve.Budget{Calls: 20, TuneEvaluations: 300}
	whole := newWorld(t, start)
	want, err := whole.run(t.Context(), &tune.Tuner{On: whole.cheap()}, model(t), nil, budget)
	if err != nil {
		t.Fatal(err)
	}
	w, path := newWorld(t, start), filepath.Join(t.TempDir(), "run.journal")
	for _, after := range []int64{1, 40, 41, 90, 1 << 40} {
		j, err := journal.Open(path, journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		on := canceling{waves{&w.made}, w.made.Load() + after, cancel}
		r, err := w.run(ctx, &tune.Tuner{On: on}, model(t), j, budget)
		cancel()
		if err := errors.Join(err, j.Close()); err != nil {
			t.Fatal(err)
		}
		if after < 1<<40 {
			if r.Stop != evolve.StopCanceled {
				t.Fatalf("stop %s after %d tune evaluations", r.Stop, w.made.Load())
			}
			continue
		}
		if r.Best.Program != want.Best.Program || r.TuneEvaluations != want.TuneEvaluations ||
			r.Evaluations != want.Evaluations || r.Calls != want.Calls {
			t.Errorf("%v after %d tune evaluations, %d evaluations, %d calls; undisturbed %v after %d, %d, %d",
				r.Best.Result.Score, r.TuneEvaluations, r.Evaluations, r.Calls,
				want.Best.Result.Score, want.TuneEvaluations, want.Evaluations, want.Calls)
		}
	}
	if n := w.made.Load(); n > whole.made.Load()+4*5 { // those under way when it was canceled
		t.Errorf("%d tune evaluations were made, undisturbed %d", n, whole.made.Load())
	}
}

// canceling cancels the run at a tune evaluation, and waits until the run has noticed.
type canceling struct {
	waves
	at     int64
	cancel context.CancelFunc
}

func (c canceling) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	r, err := c.waves.Evaluate(ctx, program)
	if c.made.Load() >= c.at {
		c.cancel()
		<-ctx.Done()
	}
	return r, err
}

func (c canceling) Unwrap() eval.Evaluator { return c.waves }

func TestParameters(t *testing.T) {
	for _, tt := range []struct{ program, language, want, reason string }{
		{"a = 0.5; b = -3; c = 1; d = 0; e = x[7]; f = 1e-9", "python", "0.5 -3 1e-09",
			"integers 0 and 1 and subscripts are structure"},
		{"a = 0x1F + 1_000 + 2.5e3", "python", "1000 2500", "hexadecimal is left alone"},
		{"a = 'x 1.5' # 2.5\n'''\n3.5\n'''\nb = 4.5", "python", "4.5", "strings and comments are not code"},
		{"", "python", "", "nothing"},
	} {
		var got []string
		for _, n := range tune.Parameters(tt.program, tt.language) {
			got = append(got, fmt.Sprint(n.Value))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: %s, want %s: %s", tt.program, s, tt.want, tt.reason)
		}
	}
}

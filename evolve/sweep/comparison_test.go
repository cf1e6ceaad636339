package sweep_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A sweep ends when all comparisons are decided, and goes on with a smaller Alpha.
func TestStopWhen(t *testing.T) {
	p, dir := grid(60, []int{32}, sweep.Greedy(1), sweep.Greedy(32)), t.TempDir()
	model, calls := counted(p.Models[0], nil)
	p.Models[0] = model
	c := sweep.Comparison{A: sweep.Side{Method: "greedy", N: 32}, B: sweep.Side{Method: "greedy", N: 1}, Calls: 32}
	told := 0
	cfg := sweep.Config{Dir: dir, AtOnce: 1, StopWhen: []sweep.Comparison{c}, Observer: func(e sweep.Event) {
		if e.Kind == sweep.EventDecided {
			told++
		}
	}}
	r, err := p.Run(t.Context(), cfg)
	if err != nil || len(r.Verdicts) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	v := r.Verdicts[0]
	winner, decided := v.Winner()
	if !decided || winner != c.B || told != 1 || v.Pairs > 30 || !(v.High < 0.5) || v.Low > v.Wins || v.Wins > v.High {
		t.Errorf("verdict %+v; told %d times", v, told)
	}
	if r.Left == 0 || r.Finished != 2*v.Pairs {
		t.Errorf("%d runs finished for %d pairs, %d left", r.Finished, v.Pairs, r.Left)
	}
	before := calls.total()
	if again, err := p.Run(t.Context(), cfg); err != nil || again.Verdicts[0] != v || calls.total() != before {
		t.Errorf("again: %+v, %v, %d more calls", again, err, calls.total()-before)
	}
	cfg.StopWhen[0].Alpha = 1e-6
	if more, err := p.Run(t.Context(), cfg); err != nil || !more.Verdicts[0].Decided || more.Verdicts[0].Pairs <= v.Pairs {
		t.Errorf("with a smaller Alpha: %+v, %v", more.Verdicts, err)
	}
}

// A task that always brings the same score has ties alone: nothing is decided, and every run is made.
func TestTiesDecideNothing(t *testing.T) {
	p := grid(20, []int{4}, sweep.Greedy(1), sweep.Greedy(4))
	flat, err := task.New(task.Spec{Name: "flat", Language: "text", Initial: "1",
		Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: 1}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	p.Tasks = []task.Task{flat}
	r := made(t, p, sweep.Config{Dir: t.TempDir(), StopWhen: []sweep.Comparison{{A: sweep.Side{Method: "greedy", N: 1},
		B: sweep.Side{Method: "greedy", N: 4}, Calls: 4}}})
	if v := r.Verdicts[0]; v.Decided || v.Pairs != 20 || v.Wins != 0.5 || r.Finished != 40 {
		t.Errorf("%+v after %d runs", v, r.Finished)
	}
}

// Pairs count in the order of the seeds, whatever ends first: one that waits for an earlier one is not counted.
func TestPairsInOrderOfSeeds(t *testing.T) {
	p := grid(40, []int{32}, sweep.Greedy(1), sweep.Greedy(32))
	c := sweep.Comparison{A: sweep.Side{Method: "greedy", N: 1}, B: sweep.Side{Method: "greedy", N: 32}, Calls: 32}
	dir, slow, ended := t.TempDir(), make(chan struct{}), 0
	p.Methods[0].New = func(s sweep.Setup) (sweep.Searches, error) {
		if s.Seed == 40 {
			<-slow // until all others have ended
		}
		return sweep.Greedy(1).New(s)
	}
	r := made(t, p, sweep.Config{Dir: dir, StopWhen: []sweep.Comparison{c}, Observer: func(e sweep.Event) {
		switch e.Kind {
		case sweep.EventEnd:
			if ended++; ended == 79 {
				close(slow)
			}
		case sweep.EventDecided:
			if ended < 80 {
				t.Errorf("decided after %d runs, without the first pair", ended)
			}
		}
	}})
	if v := r.Verdicts[0]; !v.Decided || v.Pairs == 40 {
		t.Errorf("%+v: pairs that came later count", v)
	}
}

// With several tasks a comparison is made for each, with an equal share of Alpha, and all have to be decided.
func TestVerdictsByTask(t *testing.T) {
	flat, err := task.New(task.Spec{Name: "flat", Language: "text", Initial: "1",
		Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: 1}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	c := sweep.Comparison{A: sweep.Side{Method: "greedy", N: 1}, B: sweep.Side{Method: "greedy", N: 32}, Calls: 32,
		Alpha: 0.1}
	p := grid(25, []int{32}, sweep.Greedy(1), sweep.Greedy(32))
	p.Tasks = append(p.Tasks, flat)
	both := made(t, p, sweep.Config{Dir: t.TempDir(), StopWhen: []sweep.Comparison{c}}).Verdicts
	p.Tasks, c.Alpha = p.Tasks[:1], 0.05
	alone, err := p.Run(t.Context(), sweep.Config{Dir: t.TempDir(), StopWhen: []sweep.Comparison{c}})
	if err != nil {
		t.Fatal(err)
	}
	if len(both) != 2 || both[0].Task != "pi" || !both[0].Decided || both[1].Decided {
		t.Fatalf("verdicts %+v", both)
	}
	if v := alone.Verdicts[0]; v.Pairs != both[0].Pairs || v.Low != both[0].Low {
		t.Errorf("alone with half of Alpha %+v, one of two %+v", v, both[0])
	}
}

// Where calls of one side failed and are not made up for, the other's best after as many answered calls counts. Here every
// answer is better than all before, so with equal calls each pair is a tie of two runs of one search.
func TestComparedAtEqualAnsweredCalls(t *testing.T) {
	p := grid(6, []int{12}, sweep.Greedy(1))
	patient := sweep.Greedy(1) // the same search, which makes up for calls that failed
	patient.Name, patient.Contains = "patient", false
	patient.New = func(s sweep.Setup) (sweep.Searches, error) {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: s.Task, LLM: s.LLM, N: s.N, Seed: s.Seed})
		return sweep.Searches{Arms: []evolve.Arm{g}}, err
	}
	p.Methods = append(p.Methods, patient)
	longer, err := task.New(task.Spec{Name: "longer", Language: "text", Initial: "x",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Valid: true, Score: float64(len(program))}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	p.Tasks = []task.Task{longer}
	p.Models[0].LLM = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if req.Seed%3 == 0 {
			err := errors.New("bad request")
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindOther, Err: err.Error()}}},
				&llm.Error{Status: llm.Failed, Kind: llm.KindOther, Err: err}
		}
		asked := req.Messages[len(req.Messages)-1].Content
		return llm.Reply{Text: "```\n" + strings.Repeat("x", 1+strings.Count(asked, "x")) + "\n```",
			Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	r := made(t, p, sweep.Config{Dir: t.TempDir(), Retry: llm.RetryConfig{Max: -1},
		StopWhen: []sweep.Comparison{{A: sweep.Side{Method: "patient", N: 1}, B: sweep.Side{Method: "greedy", N: 1},
			Calls: 12}}})
	fewer := 0
	for _, s := range r.Scores {
		if s.Answered < 12 {
			fewer++
		}
	}
	if v := r.Verdicts[0]; v.Pairs != 6 || v.Wins != 0.5 || fewer == 0 {
		t.Errorf("%+v, with %d cells of fewer than 12 answered calls: want ties", v, fewer)
	}
}

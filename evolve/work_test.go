package evolve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// sessions is a search whose children are made by sessions of three calls and a look at each program, of which the
// best is returned, whatever befalls the session.
type sessions struct {
	evolve.Breeder
	n     int
	seed  uint32
	begun *atomic.Int64
	whims bool // a session returns what no seed decides, so one that is made again comes to something else
}

// whim counts what sessions returned.
var whim atomic.Int64

func (s *sessions) Calls() int { return s.n }

func (s *sessions) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return s.Breed(ctx, turn, s.n, func(i int) evolve.Brief {
		parent := s.Best()
		b := evolve.Brief{Request: task.Request{Parents: []eval.Candidate{parent}}, Operator: "agent",
			Seed: evolve.ChildSeed(s.seed, s.n, s.Steps()-1, i)}
		b.Make = func(ctx context.Context, w *evolve.Work) (string, error) {
			return s.session(ctx, w, parent)
		}
		return b
	}, nil)
}

func (s *sessions) session(ctx context.Context, w *evolve.Work, best eval.Candidate) (string, error) {
	s.begun.Add(1)
	for i := range uint32(3) {
		ask := task.Request{Parents: []eval.Candidate{best}}
		reply, err := w.Ask(ctx, "agent", s.LLM, llm.Request{Messages: s.Task.Prompt(ask), Seed: w.Seed + i*0x9E3779B9})
		if err != nil { // it does not say so
			break
		}
		program, err := s.Task.Parse(reply.Text)
		if err != nil {
			continue
		}
		w.Note("wrote " + program)
		r, err := w.Tune(ctx, nil, program)
		if limit, refused := evolve.Refused(err); err != nil && (!refused || limit != "TuneEvaluations") {
			break
		}
		if c := (eval.Candidate{Program: program, Result: r}); err == nil && c.Better(best) {
			best = c
		}
	}
	if s.whims {
		return best.Program + strings.Repeat(" ", int(whim.Add(1))) + "0", nil // no number
	}
	return best.Program, nil
}

func newSessions(tk task.Task, l llm.LLM, seed uint32, begun *atomic.Int64) *sessions {
	return &sessions{Breeder: evolve.Breeder{Task: tk, LLM: l}, n: 4, seed: seed, begun: begun}
}

// countedClimber is climber, and counts calls by seed.
func countedClimber(asked *sends) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked.mu.Lock()
		asked.n[req.Seed]++
		asked.mu.Unlock()
		return climber(ctx, req)
	})
}

func TestSessionsAreOnTheBooks(t *testing.T) {
	var begun atomic.Int64
	asked := &sends{n: map[uint32]int{}}
	arm := newSessions(newNumbers(t, "0"), countedClimber(asked), 2, &begun)
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm},
		Budget: evolve.Budget{Calls: 40, TuneEvaluations: 25}})
	if err != nil || r.Stop != evolve.StopBudget || r.Limit != "Calls" {
		t.Fatalf("stop %s by %s, %v", r.Stop, r.Limit, err)
	}
	calls, children := 0, 0
	for _, g := range r.Arms[0].Generations {
		born := map[int]bool{}
		for _, c := range g.Children {
			children++
			born[c.ID] = true
			if c.Asked() || c.Operator != "agent" {
				t.Errorf("child %d has attempts of its own: %+v", c.ID, c)
			}
		}
		for _, a := range g.Asides {
			calls++
			if a.Kind != "agent" || !born[a.Child] {
				t.Errorf("a call for %q of child %d, which the step does not have", a.Kind, a.Child)
			}
		}
	}
	// A child is granted its whole path, so the last calls may be too few for a session.
	if calls < 37 || calls > 40 || r.Calls != calls || len(asked.n) != calls {
		t.Errorf("%d calls in the generations, %d in the result, %d made: want those of the budget", calls, r.Calls,
			len(asked.n))
	}
	if r.TuneEvaluations != 25 || int(begun.Load()) < children || children < 13 {
		t.Errorf("%d tune evaluations, %d sessions begun for %d children", r.TuneEvaluations, begun.Load(), children)
	}
}

// sessionRun runs two searches by sessions with the journal in dir until the budget ends or the context does.
func sessionRun(t *testing.T, ctx context.Context, dir string, l llm.LLM, begun *atomic.Int64, whims bool) (*evolve.Result, []byte, error) {
	t.Helper()
	j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	tk := newNumbers(t, "0")
	var arms []evolve.Arm
	for seed := range uint32(2) {
		arm := newSessions(tk, l, seed, begun)
		arm.whims = whims
		arms = append(arms, arm)
	}
	r, err := evolve.Run(ctx, evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Journal: j,
		Budget: evolve.Budget{Calls: 60, TuneEvaluations: 100}})
	file, bad := json.Marshal(report.NewBandit(r, report.BanditHeader{ArmSeeds: make([]uint32, 2)}))
	if bad != nil {
		t.Fatal(bad)
	}
	return r, killtest.WithoutTimes(file), err
}

// A session that ended is never made again, also not by a run that is over and begun again.
func TestSessionsAreNotMadeAgain(t *testing.T) {
	dir, begun, asked := t.TempDir(), new(atomic.Int64), &sends{n: map[uint32]int{}}
	r, first, err := sessionRun(t, t.Context(), dir, countedClimber(asked), begun, true)
	if err != nil || r.Calls != 60 {
		t.Fatalf("%d calls, %v", r.Calls, err)
	}
	was := begun.Load()
	_, again, err := sessionRun(t, t.Context(), dir, countedClimber(asked), begun, true)
	if err != nil {
		t.Fatal(err)
	}
	if begun.Load() != was {
		t.Errorf("%d of %d sessions were made again", begun.Load()-was, was)
	}
	if !bytes.Equal(first, again) {
		t.Errorf("the result is another one:\n%s\n\n%s", first, again)
	}
	for seed, n := range asked.n {
		if n != 1 {
			t.Errorf("seed %d was asked for %d times", seed, n)
		}
	}
}

// A run that is cut at any call, by sessions that keep it to themselves, comes to the undisturbed run's result, and pays
// for nothing twice.
func TestSessionsCutShort(t *testing.T) {
	begun := new(atomic.Int64)
	r, whole, err := sessionRun(t, t.Context(), t.TempDir(), climber, begun, false)
	if err != nil || r.Best.Result.Score <= 0 {
		t.Fatalf("the best has %v: sessions brought nothing (%v)", r.Best.Result.Score, err)
	}
	most := begun.Load()
	for _, cut := range []int64{1, 2, 7, 12, 13, 29, 44, 59} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			dir, begun, asked := t.TempDir(), new(atomic.Int64), &sends{n: map[uint32]int{}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls := new(atomic.Int64)
			counted := countedClimber(asked)
			cutting := llm.Func(func(c context.Context, req llm.Request) (llm.Reply, error) {
				if calls.Add(1) == cut {
					cancel()
				}
				return counted.Generate(c, req)
			})
			if r, _, err := sessionRun(t, ctx, dir, cutting, begun, false); err != nil || r.Stop != evolve.StopCanceled {
				t.Fatalf("stop %s, %v", r.Stop, err)
			}
			_, again, err := sessionRun(t, t.Context(), dir, counted, begun, false)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(whole, again) {
				t.Errorf("the result is another one:\n%s\n\n%s", whole, again)
			}
			for seed, n := range asked.n {
				if n != 1 {
					t.Errorf("seed %d was asked for %d times", seed, n)
				}
			}
			if n := begun.Load(); n > most+4 {
				t.Errorf("%d sessions were begun, %d without the cut: more than were under way are made again", n, most)
			}
		})
	}
}

// What a session evaluates is scored as its child is, once, and an error of it costs its child alone.
func TestSessionEvaluates(t *testing.T) {
	tk := newNumbers(t, "0")
	b := &evolve.Breeder{Task: tk, Noise: &evolve.Noise{Rescore: -1, Fresh: -1}}
	step := func(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
		return b.Breed(ctx, turn, 3, func(i int) evolve.Brief {
			return evolve.Brief{Make: func(ctx context.Context, w *evolve.Work) (string, error) {
				if r, err := w.Evaluate(ctx, fmt.Sprint(i)); err != nil || r.Score != float64(i) {
					t.Errorf("%+v, %v", r, err)
				}
				if i == 1 {
					return "", errors.New("the agent lost its way")
				}
				return fmt.Sprint(i), nil
			}}
		}, nil)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{stepped{b, step}},
		Budget: evolve.Budget{Rounds: 1}})
	if err != nil || r.Evaluations != 4 || tk.evaluations.Load() != 4 {
		t.Fatalf("%d evaluations in the result, %d made, %v: want the initial program's and one a child", r.Evaluations,
			tk.evaluations.Load(), err)
	}
	children := r.Arms[0].Generations[0].Children
	if len(children) != 3 || children[1].Err != "the agent lost its way" || children[1].HasProgram() ||
		children[2].Result.Score != 2 {
		t.Errorf("%+v", children)
	}
}

// stepped is a Breeder with a Step.
type stepped struct {
	*evolve.Breeder
	step func(context.Context, *evolve.Turn) (evolve.Generation, error)
}

func (s stepped) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return s.step(ctx, turn)
}

// asking scores numbers by what a model says of them, which now and then fails.
type asking struct {
	task.Task
	judge llm.LLM
}

func (a asking) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	for i := range uint32(2) {
		if _, err := llm.Ask(ctx, a.judge, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: program}},
			Seed: i}); err != nil {
			return eval.Result{}, err
		}
	}
	return a.Task.Evaluate(ctx, program)
}

// A session's evaluation may be lost, and made again by it. Its calls are on the books all the same, and a finished run
// begun again asks for nothing.
func TestSessionsLoseEvaluations(t *testing.T) {
	dir := t.TempDir()
	var judged, begun atomic.Int64
	run := func() (*evolve.Result, []byte) {
		j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		judge := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			if judged.Add(1)%7 == 0 {
				return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed}}}, errors.New("no luck")
			}
			return llm.Reply{Text: "fine", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
		})
		b := &evolve.Breeder{Task: &asking{newNumbers(t, "0"), judge}}
		step := func(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
			return b.Breed(ctx, turn, 3, func(i int) evolve.Brief {
				return evolve.Brief{Make: func(ctx context.Context, w *evolve.Work) (string, error) {
					begun.Add(1)
					program := fmt.Sprint(b.Steps()*10 + i)
					for range 3 {
						_, err := w.Evaluate(ctx, program)
						if limit, refused := evolve.Refused(err); err == nil || refused && limit != "" {
							return program, nil
						} else if !evolve.Lost(err) {
							return "", err
						}
					}
					return "", errors.New("no evaluation came through")
				}}
			}, nil)
		}
		r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{stepped{b, step}}, Journal: j,
			Budget: evolve.Budget{Calls: 60}})
		if err != nil {
			t.Fatal(err)
		}
		file, err := json.Marshal(report.NewGreedy(r, report.Header{}, 1))
		if err != nil {
			t.Fatal(err)
		}
		return r, killtest.WithoutTimes(file)
	}
	r, first := run()
	calls, sessions := judged.Load(), begun.Load()
	_, again := run()
	if judged.Load() != calls || begun.Load() != sessions {
		t.Errorf("%d calls and %d sessions were made again", judged.Load()-calls, begun.Load()-sessions)
	}
	if !bytes.Equal(first, again) || r.Calls < 40 {
		t.Errorf("%d calls; the result is another one:\n%.3000s\n\n%.3000s", r.Calls, first, again)
	}
}

// A search whose every session fails before it asks for anything ends, and so does one that asks no model.
func TestMakeThatFailsEnds(t *testing.T) {
	full := func(context.Context, *evolve.Work) (string, error) { return "", errors.New("the disk is full") }
	for want, brief := range map[string]evolve.Brief{"the disk is full": {Make: full}, "a child has no model": {}} {
		b := &evolve.Breeder{Task: newNumbers(t, "0")}
		step := func(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
			return b.Breed(ctx, turn, 2, func(int) evolve.Brief { return brief }, nil)
		}
		_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{stepped{b, step}},
			Budget: evolve.Budget{Calls: 10}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

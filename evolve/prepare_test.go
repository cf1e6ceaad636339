package evolve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// fresh is an evaluator on the i-th fresh case, which a judge answers.
type fresh struct {
	judge *counting
	i     int
}

func (f fresh) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	question := fmt.Sprintf("Case %d of %s?", f.i, program)
	if _, err := llm.Ask(ctx, f.judge, llm.Request{Messages: []llm.Message{{Role: llm.User,
		Content: question}}}); err != nil {
		return eval.Result{}, err
	}
	return eval.Result{Valid: true, Score: float64(f.i % 3)}, nil
}

func (f fresh) String() string { return fmt.Sprintf("fresh case %d", f.i) }

// preparer is a search whose prompts have what the parent answers on a fresh case. Of every third case it has nothing to
// ask; of others it is told.
type preparer struct {
	evolve.Breeder
	judge *counting
	idle  bool // it never has
	once  bool // only one child of a step has
	fails error
}

func (p *preparer) Calls() int { return 6 }

func (p *preparer) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return p.Breed(ctx, turn, 6, func(i int) evolve.Brief {
		step := p.Steps()
		b := evolve.Brief{Seed: evolve.ChildSeed(7, 6, step-1, i)}.Of(evolve.Child{Candidate: p.Best()})
		b.Prepare = func(ctx context.Context, ask task.Request) (task.Request, string, error) {
			on := fresh{p.judge, step*6 + i}
			r, err := turn.Evaluate(ctx, on, ask.Parents[0].Program, 0)
			if err = errors.Join(err, p.fails); err != nil {
				return ask, "", err
			}
			if p.idle || r.Score == 0 || p.once && i != 1 {
				return ask, "nothing to ask for", nil
			}
			ask.Sections = []task.Section{task.Notes(fmt.Sprintf("%v says %v", on, r.Score))}
			return ask, "", nil
		}
		return b
	}, nil)
}

// prepare runs or resumes a run of such a search.
func prepare(t *testing.T, path string, p *preparer, budget evolve.Budget) (res *evolve.Result, told []string, data []byte, err error) {
	t.Helper()
	var mu sync.Mutex
	p.judge = newCounting(instant)
	p.Breeder = evolve.Breeder{Task: newNumbers(t, "0"),
		LLM: llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			mu.Lock()
			told = append(told, req.Messages[len(req.Messages)-1].Content)
			mu.Unlock()
			return climber(ctx, req)
		})}
	j := openJournal(t, path)
	defer j.Close()
	res, err = evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: budget, Journal: j})
	if res != nil {
		var bad error
		if data, bad = json.MarshalIndent(report.NewGreedy(res, report.Header{Model: testModel}, 7), "", " "); bad != nil {
			t.Fatal(bad)
		}
	}
	return res, told, data, err
}

// What a brief learns before its prompt is written is in the prompt, counted, and recalled wherever the run was killed. A
// child for which there is nothing to ask costs no call.
func TestPrepare(t *testing.T) {
	path := journalPath(t)
	whole := &preparer{}
	res, told, want, err := prepare(t, path, whole, evolve.Budget{Rounds: 4})
	if err != nil || len(res.Arms[0].Generations) != 4 {
		t.Fatalf("%d generations: %v", len(res.Arms[0].Generations), err)
	}
	asked, idle, asides := 0, 0, 0
	for _, g := range res.Arms[0].Generations {
		asides += len(g.Asides)
		for _, c := range g.Children {
			switch {
			case c.Asked():
				asked++
			case c.Err == "nothing to ask for" && c.Proposal().State == books.StateFailed && !c.HasProgram():
				idle++
			}
		}
	}
	if asked != 16 || idle != 8 || asides != 24 || res.Calls != asked+asides || len(told) != asked {
		t.Errorf("%d children were asked for in %d calls, %d not, %d answers of the judge, %d calls in all", asked, len(told),
			idle, asides, res.Calls)
	}
	for _, prompt := range told {
		if !strings.Contains(prompt, "> fresh case ") {
			t.Errorf("a prompt does not have what was learned:\n%s", prompt)
		}
	}
	most := len(told) + whole.judge.total()
	for cut := range killtest.About(t, path, 1, 12) {
		p := &preparer{}
		_, told, got, err := prepare(t, cut.Path, p, evolve.Budget{Rounds: 4})
		if sent, had := len(told)+p.judge.total(), cut.Count("completion"); err != nil || sent > most-had {
			t.Errorf("killed after record %d with %d answers, it asks %d times of %d: %v", cut.Records, had, sent, most, err)
		}
		if diff := cmp.Diff(killtest.Comparable(t, want), killtest.Comparable(t, got)); diff != "" {
			t.Errorf("killed after record %d: another result (-want +got):\n%s", cut.Records, diff)
		}
	}
}

// A search that has nothing to ask for any more is done, and one whose Prepare fails ends with the error.
func TestPrepareEnds(t *testing.T) {
	p := &preparer{idle: true}
	res, told, _, err := prepare(t, journalPath(t), p, evolve.Budget{Calls: 1000})
	if err != nil || res.Stop != evolve.StopExhausted || len(told) != 0 || len(res.Arms[0].Generations) != 6 {
		t.Errorf("stopped by %s after %d generations: %v", res.Stop, len(res.Arms[0].Generations), err)
	}
	broken := &preparer{fails: errors.New("no cases")}
	broken.judge = newCounting(instant)
	broken.Breeder = evolve.Breeder{Task: newNumbers(t, "0"), LLM: climber}
	if _, err := broken.Step(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no cases") ||
		!broken.Done() {
		t.Errorf("a Prepare that fails: %v", err)
	}
}

// What many children ask for in vain does not count as what a program takes: the run spends its calls.
func TestPrepareInVain(t *testing.T) {
	res, _, _, err := prepare(t, journalPath(t), &preparer{once: true}, evolve.Budget{Calls: 40})
	if err != nil || res.Stop != evolve.StopBudget || res.Calls < 38 {
		t.Errorf("stopped by %s after %d of 40 calls: %v", res.Stop, res.Calls, err)
	}
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A reader is a memory that shows nothing. It keeps the attempts on each parent, and how many children of each operator
// were shown attempts, all of which have to be on their parent.
type reader struct {
	t             *testing.T
	on            map[int][]string // by ID of the parent
	asked, showed map[string]int   // children by operator
	others        bool             // the search shows other attempts too
}

func (r *reader) Section(*population.View) (none task.Section) { return none }

func (r *reader) Learn(_ context.Context, s *population.Season) error {
	for _, b := range s.Births {
		if b.Asked() {
			r.asked[b.Operator]++
		}
		for _, shown := range b.Shown {
			if !ofAttempts(shown) {
				continue
			}
			r.showed[b.Operator]++
			for _, line := range shown.Lines {
				if !r.others && !slices.Contains(r.on[b.Parents[0]], line) {
					r.t.Errorf("child %d of %s and program %d is shown %q, which was made of another", b.ID, b.Operator, b.Parents[0],
						line)
				}
			}
		}
		if b.HasProgram() {
			r.on[b.Parents[0]] = append(r.on[b.Parents[0]], b.Attempt())
		}
	}
	return nil
}

// Every way of every preset to ask a model shows the attempts on the parent that it asks for.
func TestAttemptsAreShownByEverySearch(t *testing.T) {
	lengths, err := task.New(task.Spec{Name: "lengths", Initial: "a b c d",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			if strings.Contains(program, "x") {
				return eval.Invalid("an x"), nil
			}
			return eval.Result{Valid: true, Score: float64(len(program)%7) / 7}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	words := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: task.Fence(fmt.Sprintf("%x", req.Seed)[:1+req.Seed%6]+strings.Repeat("x", int(req.Seed/7%9/8)),
			""),
			Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	for _, peer := range peers.Peers() {
		r := &reader{t: t, on: map[int][]string{}, asked: map[string]int{}, showed: map[string]int{},
			others: peer.Name == "openevolve"}
		cfg := withAttempts(peer.Config(population.Config{Task: lengths, LLM: words, N: 8, Seed: 40}))
		cfg.Memory = append(cfg.Memory, r)
		arm, err := population.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm},
			Budget: evolve.Budget{Calls: 400}}); err != nil {
			t.Fatalf("%s: %v", peer.Name, err)
		}
		t.Log(peer.Name, r.asked, r.showed)
		if len(r.asked) == 0 {
			t.Errorf("%s asked for nothing", peer.Name)
		}
		for operator, n := range r.asked {
			if n >= 20 && r.showed[operator] == 0 {
				t.Errorf("%s: none of %d children of %q was shown attempts", peer.Name, n, operator)
			}
		}
	}
}

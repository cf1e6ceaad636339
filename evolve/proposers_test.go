package evolve_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

var proposersRuns = flag.Int("proposers-runs", 2, "runs of each family of TestProposersTogether")

// An edit is a proposer's change of a program.
type edit func(p []byte, r *rand.Rand) []byte

// A climb is a task: a start, how a program is scored, at most 1, and who proposes.
type climb struct {
	start string
	score func(p string) float64
	edits []edit
}

func (climb) Name() string      { return "climb" }
func (c climb) Initial() string { return c.start }
func (climb) Prompt(a task.Request) []llm.Message {
	return []llm.Message{{Content: a.Parents[0].Program}}
}
func (climb) Parse(reply string) (program string, err error) { return reply, nil }

func (c climb) Evaluate(_ context.Context, program string) (eval.Result, error) {
	return eval.Result{Valid: true, Score: c.score(program)}, nil
}

// traps has twelve deceptive traps of five bits, and edits of unlike kind.
func traps(r *rand.Rand) climb {
	redraw := func(n int) edit {
		return func(p []byte, r *rand.Rand) []byte {
			for at, i := r.IntN(len(p)-n+1), 0; i < n; i++ {
				p[at+i] = byte(r.IntN(2))
			}
			return p
		}
	}
	move := func(p []byte, r *rand.Rand) []byte {
		copy(p[r.IntN(56):][:5], p[r.IntN(56):])
		return p
	}
	return climb{string(redraw(60)(make([]byte, 60), r)), func(p string) (sum float64) {
		for trap := range slices.Chunk([]byte(p), 5) {
			sum += []float64{4, 3, 2, 1, 0, 5}[bytes.Count(trap, []byte{1})] / 60
		}
		return sum
	}, []edit{redraw(1), redraw(2), redraw(5), redraw(20), move}}
}

// same is traps whose proposers do not differ.
func same(r *rand.Rand) climb {
	c := traps(r)
	c.edits = slices.Repeat(c.edits[:1], 5)
	return c
}

// sizes has proposers of small and frequent gains and of rare and large ones: with some chance each closes an
// exponential share of the gap to 1. Counting gains prefers the first, which gains least.
func sizes(*rand.Rand) climb {
	score := func(p string) float64 { v, _ := strconv.ParseFloat(p, 64); return v }
	closes := func(chance, share float64) edit {
		return func(p []byte, r *rand.Rand) []byte {
			if v := score(string(p)); r.Float64() < chance {
				return fmt.Append(nil, v+(1-v)*min(1, share*r.ExpFloat64()))
			}
			return p
		}
	}
	return climb{"0", score, []edit{closes(0.25, 0.002), closes(0.05, 0.02), closes(0.008, 0.15)}}
}

// climbed returns which share of what there is to gain a search of c by some of its edits gains with 128 calls and 512.
func climbed(t *testing.T, c climb, edits []edit, policy bandit.Policy, seed uint32) (gains [2]float64) {
	t.Helper()
	cfg := evolve.GreedyConfig{Task: c, N: 1, Seed: seed, Policy: func() bandit.Policy { return policy }}
	for i, e := range edits {
		ask := func(_ context.Context, req llm.Request) (llm.Reply, error) {
			r := rand.New(rand.NewPCG(uint64(req.Seed), uint64(i)))
			return ok(string(e([]byte(req.Messages[0].Content), r)), req.Seed), nil
		}
		cfg.Proposers = append(cfg.Proposers, evolve.Proposer{Name: fmt.Sprint(i), LLM: llm.Func(ask)})
	}
	g, err := evolve.NewGreedy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 512}})
	start := c.score(c.start)
	for i, calls := range []int{128, 512} {
		gains[i] = (res.Rounds[calls-1].Best - start) / (1 - start)
	}
	return gains
}

// By how much a search that draws the proposer of each child is above the mean of the searches of one proposer.
func TestProposersTogether(t *testing.T) {
	for i, family := range []func(*rand.Rand) climb{traps, sizes, same} {
		var more [2][]float64
		for run := range *proposersRuns {
			c, seed := family(rand.New(rand.NewPCG(uint64(run), 88))), uint32(100*run)
			drawn := climbed(t, c, c.edits, nil, seed+99)
			for k := range c.edits {
				for at, alone := range climbed(t, c, c.edits[k:k+1], nil, seed+uint32(k)) {
					drawn[at] -= alone / float64(len(c.edits))
				}
			}
			more[0], more[1] = append(more[0], drawn[0]), append(more[1], drawn[1])
		}
		early, late := sim.Mean(more[0]), sim.Mean(more[1])
		t.Logf("%-5s  128 calls %v  512 calls %v", []string{"traps", "sizes", "same"}[i], early, late)
		if i == 0 && late.Low < 0 {
			t.Errorf("drawing among proposers that differ is below one of them: %v", late)
		}
	}
}

// hearing draws at random and counts what it hears.
type hearing struct {
	bandit.Random
	heard *int
}

func (c hearing) Update(bandit.Pull, float64) { *c.heard++ }

// What a proposer is told is in its requests and in no other's. Searches that share hear of each other's children, and
// others of their own alone.
func TestProposersAreToldAndShare(t *testing.T) {
	for _, shared := range []bool{true, false} {
		heard, asked := 0, map[string]bool{}
		var mu sync.Mutex
		ask := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			text := fmt.Sprint(req.Messages)
			asked[fmt.Sprint(strings.Contains(text, "Be bold."), strings.Contains(text, "Go on."))] = true
			return climber(ctx, req)
		})
		list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: ask, N: 4, Seed: 40,
			Policy: func() bandit.Policy { return hearing{heard: &heard} },
			Proposers: []evolve.Proposer{{Name: "plain"}, {Name: "told", System: "Be bold."},
				{Name: "asked", Instruction: "Go on."}}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			a.(*evolve.Greedy).Shared = shared
		}
		mustRun(t, evolve.Config{Arms: list, Policy: bandit.Shares{1, 1}, Budget: evolve.Budget{Calls: 80}})
		if (heard > 80) != shared || heard < 80 {
			t.Errorf("shared %v: policies heard %d times of 80 children", shared, heard)
		}
		if len(asked) != 3 || asked["true true"] {
			t.Errorf("requests with a system message and an instruction: %v", asked)
		}
	}
}

// Where one proposer's call costs more tokens than another's, and the budget is of tokens, the cheap one is asked more.
func TestProposersArePriced(t *testing.T) {
	priced := func(tokens int) llm.LLM {
		return llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			r := ok("```text\n0\n```", req.Seed)
			r.Attempts[0].Usage = &llm.Usage{PromptTokens: tokens}
			return r, nil
		})
	}
	g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: newNumbers(t, "0"), N: 1,
		Proposers: []evolve.Proposer{{Name: "cheap", LLM: priced(10)}, {Name: "dear", LLM: priced(1000)}}})
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]int{}
	g.OnChild = func(c evolve.Child) { drawn[c.Proposer]++ }
	mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{
		Tokens: 1_000_000_000, Rounds: 200, Models: []llm.Model{testModel}}})
	if drawn["cheap"] < 5*drawn["dear"] || drawn["dear"] == 0 {
		t.Errorf("%v, want the cheap one drawn most", drawn)
	}
}

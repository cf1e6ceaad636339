package advise_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/advise"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// advised runs a search of each breadth under a budget of calls, and returns what is to be the same in a resumed run.
func advised(t *testing.T, path string, calls int, model llm.LLM) (came, *evolve.Result) {
	t.Helper()
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	arms, err := advise.Arms(evolve.GreedyConfig{Task: points(), LLM: model, Seed: 40}, []int{1, 4, 16})
	if err != nil {
		t.Fatal(err)
	}
	policy := &advise.Policy{Calls: calls, Share: 0.5}
	result, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: policy, Budget: evolve.Budget{Calls: calls}, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	advice, over := policy.Advice()
	c := came{Advice: advice.String(), Over: over, Best: result.Best.Result.Score, Calls: result.Calls}
	for _, r := range result.Rounds {
		c.Arms, c.Chances = append(c.Arms, r.Pull.Arm), append(c.Chances, r.Pull.Prob)
	}
	return c, result
}

// came is what a run came to.
type came struct {
	Advice  string
	Over    bool
	Best    float64
	Calls   int
	Arms    []int
	Chances []float64
}

// A run that is killed after some of its records, in the pilot and after it, is resumed: it comes to the same advice and
// the same result, and asks for nothing whose answer is in the journal.
func TestResumed(t *testing.T) {
	var asked atomic.Int64
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked.Add(1)
		return mover(ctx, req)
	})
	const calls = 160
	whole := filepath.Join(t.TempDir(), "whole.journal")
	want, result := advised(t, whole, calls, model)
	if !want.Over || asked.Load() != calls || result.Stop != evolve.StopBudget {
		t.Fatalf("%+v after %d calls: %v", want, asked.Load(), result.Stop)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for n := 2; n < len(lines); n += 37 {
		path := filepath.Join(t.TempDir(), "cut.journal")
		kept := bytes.Join(lines[:n], nil)
		if err := os.WriteFile(path, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		had := bytes.Count(kept, []byte(`"kind":"completion"`))
		asked.Store(0)
		got, _ := advised(t, path, calls, model)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cut after %d records, the run comes to something else (-whole +resumed):\n%s", n, diff)
		}
		if asked.Load() != int64(calls-had) {
			t.Errorf("cut after %d records with %d answers, %d calls are made, want %d", n, had, asked.Load(), calls-had)
		}
	}
}

// A model whose children are all invalid shows nothing of breadth: the run says so, and goes on with the first arm.
func TestInvalidChildren(t *testing.T) {
	nonsense := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "```\nnot a point\n```", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	got, _ := advised(t, filepath.Join(t.TempDir(), "run.journal"), 200, nonsense)
	if !got.Over || !strings.Contains(got.Advice, "arm 0") || !strings.Contains(got.Advice, "all scores of the pilot are the same") {
		t.Errorf("%+v", got)
	}
	if last := got.Arms[len(got.Arms)-1]; last != 0 || got.Calls != 200 {
		t.Errorf("arm %d had the last of %d calls, want arm 0 and 200", last, got.Calls)
	}
}

func TestArmsRefusesWhatIsWrong(t *testing.T) {
	good := evolve.GreedyConfig{Task: points(), LLM: mover}
	wide := good
	wide.Breadth = evolve.Adaptive{}
	for _, tt := range []struct {
		why      string
		cfg      evolve.GreedyConfig
		breadths []int
		want     string
	}{
		{"nothing to play", good, nil, "at least 1"},
		{"0 would be the default of 64", good, []int{4, 0}, "breadth 1 is 0"},
		{"more than a step may have", good, []int{1 << 30}, "1073741824"},
		{"two things that decide the breadth", wide, []int{1}, "Adaptive"},
		{"a search without a model", evolve.GreedyConfig{Task: points()}, []int{1}, "LLM is nil"},
	} {
		arms, err := advise.Arms(tt.cfg, tt.breadths)
		if err == nil || arms != nil || !strings.HasPrefix(err.Error(), "advise: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want an error with %q", tt.why, arms, err, tt.want)
		}
	}
}

// A breadth is tried if its share of the pilot has four generations.
func TestBreadths(t *testing.T) {
	for _, tt := range []struct {
		calls int
		share float64
		want  []int
	}{
		{10, 0.1, []int{1}},
		{319, 0.1, []int{1}}, // 31 calls: 15 each
		{320, 0.1, []int{1, 4}},
		{1919, 0.1, []int{1, 4}},
		{1920, 0.1, []int{1, 4, 16}}, // 64 each
		{1 << 20, 0.1, []int{1, 4, 16, 64}},
		{1024, 0, []int{1, 4}}, // the default share
	} {
		if got := advise.Breadths(tt.calls, tt.share); !cmp.Equal(got, tt.want) {
			t.Errorf("%d calls, share %v: %v, want %v", tt.calls, tt.share, got, tt.want)
		}
	}
}

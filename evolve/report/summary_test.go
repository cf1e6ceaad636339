package report_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// A summary says why no child has a score: the reasons, counted, in about ten lines that cannot steer a terminal.
func TestSummaryOfARunWithoutAScore(t *testing.T) {
	replies := []string{"```\none\n```", "```\none\x1b[2J\n```", "-", "", "```\none\n```",
		"```\n" + strings.Repeat("x ", 300) + "\n```"}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		i := int(req.Seed) % len(replies)
		if replies[i] == "" {
			return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindServer, Err: "500"}}},
				errors.New("500: out of memory")
		}
		return llm.Reply{Text: strings.Trim(replies[i], "-"),
			Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 1000, CompletionTokens: 100}}}}, nil
	})
	seeds := make([]uint32, len(replies))
	arm := &once{Breeder: evolve.Breeder{Task: sum(), LLM: model}, seeds: seeds}
	for i := range seeds {
		seeds[i] = uint32(len(replies) + i)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 1}})
	if err != nil {
		t.Fatal(err)
	}
	priced := llm.Model{Key: "m", ActiveParams: 1000, Price: &llm.Price{Prompt: 1, Completion: 10}}
	got := report.Summary(r, priced)
	for _, want := range []string{
		"s: the rounds of the budget were used up", "best      -94.000000, of the initial program: no child is better",
		"calls     5 answered, 1 failed, 0 timed out, 0 abandoned or lost, in 6 attempts\n",
		"5000 prompt tokens (0 cached), 500 completion tokens, ", "FLOPs, money 0.01\n",
		"children  6: 4 invalid, 1 without a program, 1 failed\n", "        2 invalid: not a number: \"one\"\n",
		"        1 failed: 500: out of memory\n",
		"        1 invalid: not a number: \"one\\x1b[2J\"\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	if n := strings.Count(got, "\n"); n > 13 || strings.Contains(got, "\x1b") || !strings.HasSuffix(got, "\n") {
		t.Errorf("%d lines, or it steers a terminal", n)
	}
	file, dear := report.NewGreedy(r, report.Header{Model: priced}, 1), report.NewGreedy(r, report.Header{}, 1)
	if file.Money == nil || *file.Money != 0.01 || dear.Money != nil {
		t.Errorf("the file has money %v, and %v without a price", file.Money, dear.Money)
	}
	if strings.Contains(report.Summary(r, llm.Model{}), "money") || strings.Contains(report.Summary(r), "FLOPs") {
		t.Error("it tells money without a price, or FLOPs without the size of the model")
	}
	if t.Failed() {
		t.Logf("\n%s", got)
	}
}

// once is a search of one step, whose children have these seeds.
type once struct {
	evolve.Breeder
	seeds []uint32
}

func (o *once) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return o.Breed(ctx, turn, len(o.seeds), func(i int) evolve.Brief { return evolve.Brief{Seed: o.seeds[i]} }, nil)
}

// A run that found nothing, or did not begin, has a summary too.
func TestSummaryOfNothing(t *testing.T) {
	for _, r := range []*evolve.Result{{}, {Stop: evolve.StopError, Arms: make([]evolve.ArmResult, 2)}} {
		if got := report.Summary(r); !strings.Contains(got, "no valid program") || !strings.Contains(got, "children  0\n") {
			t.Errorf("%q", got)
		}
	}
}

func ExampleSummary() {
	r, _ := reported()
	r.Elapsed = 0                                                                // which differs from run to run
	r.Earlier.Lost = []llm.Attempt{{Status: llm.Canceled, EstimatedPrompt: 700}} // it was under way at a kill
	priced := tiny
	priced.Price = &llm.Price{Prompt: 1e6, Cached: 1e6, Completion: 1e6}
	fmt.Print(report.Summary(r, priced))
	// Output:
	// stopped   after 0.0 s: the budget of answered calls left no room for another child
	// best      -79.000000, from -94.000000
	// calls     16 answered, 0 failed, 0 timed out, 1 abandoned or lost, in 25 attempts
	// spent     3076 prompt tokens (1024 cached), 160 completion tokens, 4.947e+07 FLOPs, money 3236; 1476 of the prompt tokens are estimated, of 9 attempts without usage
	// scored    10 evaluations
	// children  16: 16 valid
}

package presets

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// sixNumbers is the task of testdata/parity/runs.py. Its prompt is the parent alone, and a reply the program alone.
type sixNumbers struct{ task.Task }

const runCalls = 200

func newSixNumbers(t *testing.T) task.Task {
	t.Helper()
	aim := []float64{3, -2, 5, 0.5, -4, 1}
	of, err := task.New(task.Spec{Name: "six", Language: "text", Initial: strings.Repeat("0.000\n", len(aim)),
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			sum := 1.0
			for i, word := range strings.Fields(program) {
				var x float64
				if _, err := fmt.Sscan(word, &x); err != nil {
					return eval.Invalid("%v", err), nil
				}
				sum += (x - aim[i]) * (x - aim[i])
			}
			return eval.Result{Valid: true, Score: 1 / sum}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return sixNumbers{of}
}

func (sixNumbers) Prompt(ask task.Request) []llm.Message {
	return []llm.Message{{Role: llm.User, Content: ask.Parents[0].Program}}
}

func (sixNumbers) Parse(reply string) (string, error) { return reply, nil }

// mover moves one of the numbers.
func mover(_ context.Context, req llm.Request) (llm.Reply, error) {
	r := stream.New(uint64(req.Seed), "mover", 0)
	words := strings.Fields(req.Messages[0].Content)
	i := r.IntN(len(words))
	var x float64
	if _, err := fmt.Sscan(words[i], &x); err != nil {
		return llm.Reply{}, err
	}
	words[i] = fmt.Sprintf("%.3f", x+1.5*r.NormFloat64())
	return llm.Reply{Text: strings.Join(words, "\n") + "\n", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
}

// Whole searches end where the systems' own do: the mean best of a hundred runs of 200 calls differs from that of a
// hundred runs of theirs by less than 4.5 of its standard errors (Welch), which by chance happens once in 100,000
// times.
func TestRunsEndAsTheirs(t *testing.T) {
	for _, tt := range notrun.Few([]struct {
		name   string
		config func(population.Config) population.Config
		window int // children under way, as there
	}{
		{"openevolve", OpenEvolve, 5},
		{"adaevolve", AdaEvolve, 1},
	}, 0) {
		var of struct {
			Bests []float64 `json:"bests"`
		}
		recorded(t, tt.name, &of)
		bests := of.Bests
		if len(bests) != 100 {
			t.Fatalf("%s: the record has %d runs", tt.name, len(bests))
		}
		var ours []float64
		for seed := range notrun.Length(30, len(bests)) {
			p, err := population.New(tt.config(population.Config{Task: newSixNumbers(t), LLM: llm.Func(mover), N: runCalls,
				Seed: uint32(seed), Window: tt.window}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Step(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			ours = append(ours, p.Best().Result.Score)
		}
		a, sa := stat.MeanStdDev(bests, nil)
		b, sb := stat.MeanStdDev(ours, nil)
		n, m := float64(len(bests)), float64(len(ours))
		z := (b - a) / math.Sqrt(sa*sa/n+sb*sb/m)
		t.Logf("%s: theirs %.4f ± %.4f, ours %.4f ± %.4f, z %.2f, p %.3f", tt.name, a, 1.96*sa/math.Sqrt(n), b,
			1.96*sb/math.Sqrt(m), z, 2*distuv.UnitNormal.Survival(math.Abs(z)))
		if math.Abs(z) > 4.5 {
			t.Errorf("%s: runs end at %.4f, and theirs at %.4f, %.1f standard errors apart", tt.name, b, a, z)
		}
	}
}

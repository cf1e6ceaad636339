package layers_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// letters makes a task whose programs are letters, of which each case wants another.
func letters(name, initial string, cases func(program string) []string) task.Task {
	t, err := task.New(task.Spec{Name: name, System: name, Initial: initial,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			r := eval.Result{Valid: true}
			for i, word := range cases(program) {
				r.Cases = append(r.Cases, float64(strings.Count(word, string("ab"[i]))))
				r.Score += r.Cases[i] / 2
			}
			return r, nil
		})})
	if err != nil {
		panic(err)
	}
	return t
}

// Stage one finds words of many a and of many b. Stage two says which of them to use for which.
func Example() {
	replies := map[string][]string{"words": {"aaab", "abbb"}, "choice": {"1 1", "1 0", "0 1"}}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		of := replies[req.Messages[0].Content]
		return llm.Reply{Text: of[int(req.Seed)%len(of)], Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	bases, err := evolve.NewGreedy(evolve.GreedyConfig{LLM: model, N: 4,
		Task: letters("words", "ab", func(p string) []string { return []string{p, p} })})
	if err != nil {
		panic(err)
	}
	arm, err := layers.New(layers.Config{
		Bases: bases,
		Calls: 16, // of which a half is stage one's
		Most:  2,  // bases in the pool
		Combine: func(pool []eval.Candidate) (evolve.Arm, error) {
			return evolve.NewGreedy(evolve.GreedyConfig{LLM: model, N: 4,
				Task: letters("choice", "0 0", func(p string) (words []string) {
					for word := range strings.FieldsSeq(p) {
						words = append(words, pool[strings.Index("01", word)].Program)
					}
					return words
				})})
		},
		Whole: func(pool []eval.Candidate, choice string) string {
			return strings.NewReplacer("0", pool[0].Program, "1", pool[1].Program).Replace(choice)
		},
	})
	if err != nil {
		panic(err)
	}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{arm}, Policy: bandit.Random{},
		Budget: evolve.Budget{Calls: 16}})
	fmt.Println(result.Best.Program, result.Best.Result.Score, "from", arm.Result().Arms[0].Best.Result.Score, err)
	// Output:
	// aaab abbb 3 from 2 <nil>
}

// The rules print themselves, for a journal's fingerprint.
func ExampleLayers_String() {
	bases, err := evolve.NewGreedy(evolve.GreedyConfig{LLM: llm.Func(writer),
		Task: letters("words", "ab", func(p string) []string { return []string{p, p} })})
	if err != nil {
		panic(err)
	}
	arm, err := layers.New(layers.Config{Bases: bases, Calls: 400, Share: 0.25,
		Combine: func([]eval.Candidate) (evolve.Arm, error) { return bases, nil }})
	fmt.Println(arm, err)
	// Output:
	// Layers(bases by Greedy(words, N=64, seed=0, neutral), 0.25 of 400 calls; pool of 8 by cover of cases, at most 1 similar at 0.95; promote if better by 0; hand back nothing; rounds 1) <nil>
}

// Two rules were scored on three cases that have a size. The first is better where the size is small.
func ExampleRegress() {
	pool := []eval.Candidate{
		{Program: "small first", Result: eval.Result{Valid: true, Cases: []float64{9, 5, 1}}},
		{Program: "large first", Result: eval.Result{Valid: true, Cases: []float64{3, 4, 5}}},
	}
	weights, err := layers.Regress(pool, [][]float64{{1, 0}, {1, 1}, {1, 2}}) // a constant, and the size
	if err != nil {
		panic(err)
	}
	for i, w := range weights {
		fmt.Printf("%s: %.1f %+.1f size\n", pool[i].Program, w[0], w[1])
	}
	// Output:
	// small first: 9.0 -4.0 size
	// large first: 3.0 +1.0 size
}

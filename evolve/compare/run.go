package compare

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Run is what one search made of one problem.
type Run struct {
	Family, Search string
	Seed           uint64
	Calls          int     // that brought an answer, those beside the children included
	Evaluations    int     // made; a program that is known is not evaluated again
	FLOPs          float64 // of all calls
	Score          float64 // the true score of the program that it ends with
	Claimed        float64 // the score that it ends with by itself; above Score where noise or few cases flatter it
	// Fresh is what it scores on fresh samples, if the search takes them: their mean, with their standard deviation and
	// number.
	Fresh, FreshSD float64
	FreshN         int
	FreshScores    []float64 // the samples
	// Points are where the true score of the best program changed, from the initial program's on.
	Points []Point
}

// A Point is the true score of a run's best program from so many calls and FLOPs on.
type Point struct {
	Calls int
	FLOPs float64
	Score float64
}

// run makes the run. An error is infrastructure's, or ctx's.
func (j job) run(ctx context.Context, cfg Config) (Run, error) {
	r := Run{Family: j.family.Name, Search: j.search.Name, Seed: j.seed}
	p, err := j.family.Make(j.seed)
	if err != nil {
		return r, fmt.Errorf("compare: %s, seed %d: %w", r.Family, r.Seed, err)
	}
	// Searches on one problem have seeds of their own: with one seed for all, two that begin alike would share luck.
	_, seed := stream.Seed(j.seed, "compare "+j.search.Name, 0)
	run, err := j.search.Make(Setting{Task: p.Task, LLM: p.LLM, Noisy: p.Noisy, Seed: uint32(seed), Calls: cfg.Calls})
	if err != nil {
		return r, fmt.Errorf("compare: %s, %s: %w", r.Family, r.Search, err)
	}
	model := modelOf(p.LLM)
	run.Seed, run.Budget = seed, evolve.Budget{Calls: cfg.Calls, Stalls: -1}
	if cfg.FLOPs {
		budget := float64(cfg.Calls) * rewriteCost(p.Task, model)
		run.Budget = evolve.Budget{FLOPs: budget, Stalls: -1, Models: []llm.Model{model}}
	}
	if cfg.Evaluations > 0 {
		run.Budget = evolve.Budget{Evaluations: cfg.Evaluations, Stalls: -1}
	}
	t := tracker{run: &r, problem: p, model: model}
	run.Observer = t.observe
	result, err := evolve.Run(ctx, run)
	if err != nil {
		return r, fmt.Errorf("compare: %s, %s, seed %d: %w", r.Family, r.Search, r.Seed, err)
	}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	r.Calls, r.Evaluations = result.Calls, result.Evaluations
	r.FLOPs = flops.Sum(result.Attempts, model.ActiveParams, flops.WorstCase).TotalFLOPs
	r.Score, r.Claimed = p.True(result.Best.Program), result.Best.Result.Score
	if f := result.Fresh; f != nil && f.Samples != nil {
		r.Fresh, r.FreshSD, r.FreshN = f.Score, f.Samples.SD, f.Samples.N
		r.FreshScores = f.Samples.Scores
	}
	return r, nil
}

// modelOf returns what a model says of itself, or that of the stand-ins if it does not say.
func modelOf(l llm.LLM) llm.Model {
	if s, ok := llm.As[interface{ Spec() llm.Model }](l); ok {
		return s.Spec()
	}
	return landscape.Model{}.Spec()
}

// rewriteCost returns the FLOPs of one rewrite of the initial program, which is answered with a program as long.
func rewriteCost(t task.Task, m llm.Model) float64 {
	cost, _ := flops.Attempt(llm.Attempt{Status: llm.OK, Usage: landscape.Rewrite(t)}, m.ActiveParams)
	return cost
}

// A tracker notes the true score as a run goes on.
type tracker struct {
	run     *Run
	problem Problem
	model   llm.Model
	best    string
	flops   float64
}

func (t *tracker) observe(e evolve.Event) {
	t.flops += flops.Sum(e.Generation.Attempts, t.model.ActiveParams, flops.WorstCase).TotalFLOPs
	if e.Best.Program == t.best { // before the initial program is evaluated there is none
		return
	}
	t.best = e.Best.Program
	score := t.problem.True(t.best)
	if n := len(t.run.Points); n > 0 && t.run.Points[n-1].Score == score {
		return
	}
	t.run.Points = append(t.run.Points, Point{e.Calls, t.flops, score})
}

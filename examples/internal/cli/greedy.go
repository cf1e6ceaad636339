package cli

import (
	"context"
	"flag"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// Greedy is what the flags of the greedy example say.
type Greedy struct {
	Options
	Search
}

// ParseGreedy reads the flags of the greedy example.
func ParseGreedy(args []string) (*Greedy, error) {
	var g Greedy
	fs := flag.NewFlagSet("greedy", flag.ContinueOnError)
	g.Register(fs)
	g.register(fs)
	if err := g.Parse(fs, args); err != nil {
		return nil, err
	}
	if err := g.Search.check(&g.Options, maxSeed); err != nil {
		return nil, err
	}
	return &g, nil
}

// Progress returns a Progress with a line for each generation.
func (g *Greedy) Progress(ctx context.Context) *Progress {
	return g.generations(ctx)
}

// generations returns a Progress with a line for each generation of one search.
func (o *Options) generations(ctx context.Context) *Progress {
	head := "generation       parent         best  " + CountsHead
	return NewProgress(ctx, o.T*o.N, head, func(e evolve.Event) string {
		gen := e.Generation
		return fmt.Sprintf("%10d  %11.6f  %11.6f  %s", gen.Index, gen.Before.Result.Score, gen.Best.Result.Score, Counts(gen))
	}, o.Workers)
}

// Summary prints how the run ended and what it cost.
func (g *Greedy) Summary(model llm.LLM, r *evolve.Result, file report.Greedy) {
	g.summary(model, r, file.FLOPs, file.Ledgers)
	printAudits(file.Search)
}

package cli

import (
	"context"
	"flag"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// Greedy is what the flags of the greedy example say.
type Greedy struct {
	Options
	Seed   uint32
	Window int
	Order  evolve.Order
}

// ParseGreedy reads the flags of the greedy example.
func ParseGreedy(args []string) (*Greedy, error) {
	var g Greedy
	fs := flag.NewFlagSet("greedy", flag.ContinueOnError)
	g.Register(fs)
	seed := fs.Uint64("seed", 40, "seed of the search, up to 2^32-1")
	fs.IntVar(&g.Window, "window", 0, "children under way at once; with fewer than --N a better child is the parent of those begun after it, so --T 1 --N 512 --window 64 is a steady-state search (default: all of a generation)")
	order := fs.String("order", byIndex, "with --window: in which order children are taken in: by-index, so that the run can be repeated; or as-they-end, so that none waits for a slow one")
	if err := g.Parse(fs, args); err != nil {
		return nil, err
	}
	g.Seed = uint32(*seed)
	if err := g.checkBreadth(g.Window > 0); err != nil {
		return nil, err
	}
	switch {
	case *seed > math.MaxUint32:
		return nil, Usagef("--seed is %d: need at most %d", *seed, uint32(math.MaxUint32))
	case g.Window < 0:
		return nil, Usagef("--window is %d: need 0 for all children of a generation, or more", g.Window)
	case *order != byIndex && *order != asTheyEnd:
		return nil, Usagef("--order is %q: it is %s or %s", *order, byIndex, asTheyEnd)
	case g.given["order"] && g.Window == 0:
		return nil, Usagef("--order has no effect without --window")
	case *order == asTheyEnd:
		g.Order = evolve.AsTheyEnd
	}
	return &g, nil
}

// The values of --order.
const (
	byIndex   = "by-index"
	asTheyEnd = "as-they-end"
)

// Progress returns a Progress with a line for each generation.
func (g *Greedy) Progress(ctx context.Context) *Progress {
	head := "generation       parent         best  " + CountsHead
	return NewProgress(ctx, g.T*g.N, head, func(e evolve.Event) string {
		gen := e.Generation
		return fmt.Sprintf("%10d  %11.6f  %11.6f  %s", gen.Index, gen.Before.Result.Score, gen.Best.Result.Score, Counts(gen))
	})
}

// Summary prints how the run ended and what it cost.
func (g *Greedy) Summary(model llm.LLM, r *evolve.Result, file report.Greedy) {
	g.summary(model, r, file.Trajectory[0].BestFitness, file.FLOPs)
}

package analyze

import (
	"flag"
	"math"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// options are the flags.
type options struct {
	results, out     string
	ceiling, epsilon float64
	minCalls         int
	early            bool
	samples          int
	seed             uint64
	prompt, answer   float64 // US dollars for a million tokens
	png              bool
	scores           string
	levels           []float64 // of scores
}

func (o *options) register(fs *flag.FlagSet) {
	o.results = "results"
	fs.StringVar(&o.out, "out", "analysis", "folder for what is written")
	fs.Float64Var(&o.ceiling, "ceiling",
		1, "the score that no program passes; the surface is one of what is missing to it")
	fs.Float64Var(&o.epsilon, "epsilon", 1e-4, "the least gap to the ceiling that is told apart")
	fs.IntVar(&o.minCalls, "min-calls", 0, "the least budget T·N of a cell of the surface")
	fs.BoolVar(&o.early, "early", false, "take runs that stopped early, too, for the depths that they reached")
	fs.IntVar(&o.samples, "samples", 2000, "bootstrap samples of an interval")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of the bootstrap")
	fs.Float64Var(&o.prompt, "prompt-price",
		0, "US dollars for a million tokens of prompts, for a figure of score by money")
	fs.Float64Var(&o.answer, "answer-price", 0, "US dollars for a million tokens of answers")
	fs.StringVar(&o.scores, "scores", "", "scores, separated by commas: how many calls are needed to each")
	fs.BoolVar(&o.png, "png", false, "write figures as PNG, too, and not as SVG alone")
}

func (o *options) validate() error {
	switch {
	case o.samples < 100:
		return cli.Usagef("--samples %d: the ends of an interval need at least 100", o.samples)
	case math.IsNaN(o.ceiling) || math.IsInf(o.ceiling, 0):
		return cli.Usagef("--ceiling %v: need a score", o.ceiling)
	case !(o.epsilon > 0) || math.IsInf(o.epsilon, 1):
		return cli.Usagef("--epsilon %v: need a number above 0", o.epsilon)
	case !(o.prompt >= 0 && o.answer >= 0) || math.IsInf(o.prompt+o.answer, 1):
		return cli.Usagef("--prompt-price %v, --answer-price %v: need numbers from 0", o.prompt, o.answer)
	case o.minCalls < 0:
		return cli.Usagef("--min-calls %d: need at least 0", o.minCalls)
	}
	var err error
	o.levels, err = parseScores(o.scores)
	return err
}

func (o *options) bootstrap() analysis.Bootstrap {
	return analysis.Bootstrap{Samples: o.samples, Seed: o.seed}
}

// band is the bootstrap of one point of a figure. There are hundreds of points, and with many runs fewer samples give
// visually equal ends.
func (o *options) band(runs int) analysis.Bootstrap {
	const draws, fewest = 500_000, 300
	return analysis.Bootstrap{Samples: min(o.samples, max(fewest, draws/runs)), Seed: o.seed}
}

func (o *options) grid() analysis.GridConfig {
	return analysis.GridConfig{MinCalls: o.minCalls, Ceiling: &o.ceiling, Epsilon: o.epsilon, Early: o.early}
}

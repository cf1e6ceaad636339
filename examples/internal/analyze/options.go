package analyze

import (
	"flag"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/evolve/analysis"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// options are the flags.
type options struct {
	results, out   string
	ceiling        float64
	early          bool
	samples        int
	price          string
	prompt, answer float64 // US dollars for a million tokens
	scores         string
	levels         []float64 // of scores
}

func (o *options) register(fs *flag.FlagSet) {
	o.results = "results"
	fs.StringVar(&o.out, "out", "analysis", "folder for what is written")
	fs.Float64Var(&o.ceiling, "ceiling",
		1, "the score that no program passes; the surface is one of what is missing to it")
	fs.BoolVar(&o.early, "early", false, "take runs that stopped early, too, for the depths that they reached")
	fs.IntVar(&o.samples, "samples", 2000, "bootstrap samples of an interval")
	fs.StringVar(&o.price, "price", "",
		"`P,A`: US dollars for a million tokens of prompts and of answers, for a figure of score by money")
	fs.StringVar(&o.scores, "scores", "", "scores, separated by commas: how many calls are needed to each")
}

func (o *options) validate() error {
	switch {
	case o.samples < 100:
		return cli.Usagef("--samples %d: the ends of an interval need at least 100", o.samples)
	case math.IsNaN(o.ceiling) || math.IsInf(o.ceiling, 0):
		return cli.Usagef("--ceiling %v: need a score", o.ceiling)
	}
	if o.price != "" {
		_, err := fmt.Sscanf(o.price, "%g,%g", &o.prompt, &o.answer)
		if err != nil || !(o.prompt >= 0 && o.answer >= 0) || math.IsInf(o.prompt+o.answer, 1) {
			return cli.Usagef("--price %q: need two numbers from 0, such as 0.25,2", o.price)
		}
	}
	var err error
	o.levels, err = parseScores(o.scores)
	return err
}

func (o *options) bootstrap() analysis.Bootstrap {
	return analysis.Bootstrap{Samples: o.samples}
}

// band is the bootstrap of one point of a figure. There are hundreds of points, so it takes fewer samples.
func (o *options) band(runs int) analysis.Bootstrap {
	const draws, fewest = 500_000, 300
	return analysis.Bootstrap{Samples: min(o.samples, max(fewest, draws/runs))}
}

func (o *options) grid() analysis.GridConfig {
	return analysis.GridConfig{Ceiling: &o.ceiling, Early: o.early}
}

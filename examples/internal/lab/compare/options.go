package compare

import (
	"errors"
	"flag"
	"runtime"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/duel"
	"github.com/evoalloc/evoalloc/examples/internal/lab/searches"
)

// options are the flags.
type options struct {
	families, searches string
	calls              int
	flops              bool
	seeds              int
	seed               uint64
	out, baseline      string
	parallel           int
	pair               []string // the two searches of --ab; nil without it
	noise, timing      bool
	tails              bool
	prices             bool
}

func (o *options) register(fs *flag.FlagSet) {
	fs.StringVar(&o.families, "families", "all",
		"families of landscapes, a list\nThey are "+strings.Join(names(compare.Families()), ", "))
	fs.StringVar(&o.searches, "searches", "all", "searches, a list of names and groups\nThey are: "+described())
	fs.IntVar(&o.calls, "calls", 512, "budget of each run in model calls")
	fs.BoolVar(&o.flops, "flops", false, "compare at equal FLOPs: those that --calls rewrites of the initial program cost")
	fs.IntVar(&o.seeds, "seeds", 10, "runs of each search in each family, on seeds that all searches have")
	fs.IntVar(&o.seeds, "runs", 10, "the same as --seeds")
	fs.Func("ab", "play two searches against each other, and say which is better: --ab A B\nEach is a name or a "+
		"configuration. "+searches.KeysHelp, func(string) error {
		return errors.New("give it once, as --ab A B")
	})
	fs.Uint64Var(&o.seed, "seed", 0, "the first seed; the others are those after it")
	fs.StringVar(&o.out, "out", "", "file with a row for each run (CSV); runs that it has already are not made again")
	fs.StringVar(&o.baseline, "baseline", "greedy-1",
		"search that the others are compared with; left out if it is not played")
	fs.BoolVar(&o.noise, "noise", false,
		"compare ways to deal with noisy scores, at --calls evaluations")
	fs.BoolVar(&o.tails, "tails", false,
		"with --noise: noise of one typical gain that is normal or has tails, on both sides or on one")
	fs.BoolVar(&o.timing, "timing", false, "with --noise: on a program that is really timed, one run at a time")
	fs.BoolVar(&o.prices, "prices", false,
		"compare policies over a search that rewrites and a dear one, with the money of "+
			"--calls rewrites")
	fs.IntVar(&o.parallel, "parallel", runtime.GOMAXPROCS(0), "runs made at once")
}

// study returns the study that the flags ask for.
func (o *options) study() (compare.Config, error) {
	cfg := compare.Config{Calls: o.calls, FLOPs: o.flops, Seed: o.seed, Runs: o.seeds, Parallel: o.parallel}
	for name, value := range map[string]int{"calls": o.calls, "seeds": o.seeds, "parallel": o.parallel} {
		if value < 1 {
			return cfg, cli.Usagef("--%s is %d: need at least 1", name, value)
		}
	}
	var err error
	if cfg.Families, err = chosen("families", o.families, map[string][]compare.Family{"all": compare.Families()},
		compare.Families()); err != nil {
		return cfg, err
	}
	all, of := groups()
	if o.pair != nil {
		cfg.Searches, err = versus(o.pair, all)
		return cfg, err
	}
	if cfg.Searches, err = chosen("searches", o.searches, of, all); err != nil {
		return cfg, err
	}
	if !slices.Contains(names(all), o.baseline) {
		return cfg, cli.Usagef("--baseline: there is no search %q: it is one of %s",
			o.baseline, strings.Join(names(all), ", "))
	}
	return cfg, nil
}

// idle returns an error if a flag is given that has no effect beside others.
func (o *options) idle(fs *flag.FlagSet) (err error) {
	kind, without := "", []string(nil)
	switch {
	case o.timing:
		kind, without = "--timing", []string{"families", "searches", "out", "baseline", "flops", "prices", "tails",
			"parallel"}
	case o.noise:
		kind, without = "--noise", []string{"families", "searches", "out", "baseline", "flops", "prices"}
	case o.prices:
		kind, without = "--prices", []string{"searches", "out", "baseline", "flops", "parallel"}
	case o.pair != nil:
		kind, without = "--ab", []string{"searches", "baseline"}
	}
	fs.Visit(func(f *flag.Flag) {
		if slices.Contains(without, f.Name) {
			err = cli.Usagef("--%s has no effect with %s: leave it out", f.Name, kind)
		}
	})
	if (o.noise || o.prices) && o.pair != nil {
		err = cli.Usagef("--ab has no effect with %s: leave it out", kind)
	}
	return err
}

// held says what is held equal.
func (o *options) held() string {
	if o.flops {
		return "FLOPs"
	}
	return "calls"
}

// budget names what is held equal, so that a file's runs of another budget are not mixed with these.
func (o *options) budget() duel.Budget { return duel.Budget{Calls: o.calls, FLOPs: o.flops} }

// chosen returns the items of a list of names and groups, each once.
func chosen[T interface{ String() string }](flag, list string, groups map[string][]T, all []T) ([]T, error) {
	var items []T
	seen := map[string]bool{}
	add := func(item T) {
		if !seen[item.String()] {
			items = append(items, item)
			seen[item.String()] = true
		}
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(all, func(item T) bool { return item.String() == name })
		switch of := groups[name]; {
		case len(of) > 0:
			for _, item := range of {
				add(item)
			}
		case i >= 0:
			add(all[i])
		default:
			return nil, cli.Usagef("--%s: there is no %q: it is one of %s", flag, name, strings.Join(names(all), ", "))
		}
	}
	return items, nil
}

func names[T interface{ String() string }](items []T) []string {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = item.String()
	}
	return list
}

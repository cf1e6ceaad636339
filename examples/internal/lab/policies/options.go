package policies

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve/replay"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

// options are the flags.
type options struct {
	policies, baselines, families string
	logs                          string
	banks                         []string
	arms, children, rounds        string
	multiples, scores             string
	runs                          int
	seed                          uint64
	inFlight                      int
	delaySigma                    float64
	slots, window                 int
	latencySigma                  float64
	than                          string
	parallel                      int
	csv, plots                    string
	estimate                      string
	limit                         int

	given map[string]bool // the flags that were given, by name
}

func (o *options) register(fs *flag.FlagSet) {
	fs.StringVar(&o.policies, "policies", "all", "policies to compare, such as ei,ucb,thompson\nThey "+
		"are "+strings.Join(names(new(options).contenders()), ", ")+"; ei@adaptive and ei@N are ei with that "+
		"breadth, within T·N calls; ei@1+4+16 has a search of each of these breadths")
	fs.StringVar(&o.baselines, "baselines", "ucb,thompson,exp3p",
		"policies to compare the others with; those that are not played are left out")
	fs.StringVar(&o.than, "than", "one",
		"policy whose final best the others are compared with; left out if it is not played")
	fs.StringVar(&o.families, "families", "all", "families of arms, by name; or all, synthetic, real, unlike, "+
		"deciding\nunlike is for those unlike all, deciding for those of them that nothing was tuned on")
	fs.StringVar(&o.logs, "logs", "", "play over logged searches instead of --families: result files or CSV\nGive names "+
		"or patterns, a list. --N does not apply.")
	fs.Func("bank", "play over recorded searches: a `file` that evoalloc bank made, by name or pattern\nThey are played "+
		"instead of families unless --families is given. The flag may be given again. --N is that of the banks unless given.",
		func(pattern string) error {
			o.banks = append(o.banks, strings.Split(pattern, ",")...)
			return nil
		})
	fs.StringVar(&o.arms, "K", "10", "arms; a list plays each")
	fs.StringVar(&o.children, "N", "1", "children to a generation; a list plays each")
	fs.StringVar(&o.rounds, "T", "512", "budget in generations, which are pulls; a list plays each")
	fs.StringVar(&o.multiples, "multiples", "0.5,1,2",
		"scores to reach: what dealing out so many times T pulls in turn reaches with nine runs in ten")
	fs.StringVar(&o.scores, "scores", "", "further scores to reach, as they are")
	fs.IntVar(&o.runs, "runs", 100, "runs of each policy in each setting")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of the first run; the others have those after it")
	fs.IntVar(&o.inFlight, "in-flight", 1, "pulls in flight at once, at most one an arm")
	fs.Float64Var(&o.delaySigma, "delay-sigma", 0, "pulls take log-normal times of this sigma; 0 means equal times")
	fs.IntVar(&o.slots, "slots", 0, "children made at once, over all pulls in flight; 0 means no limit. With it or "+
		"--latency-sigma, runs take simulated time")
	fs.IntVar(&o.window, "window", 0, "children of a pull under way at once, a better one of which is the parent of "+
		"those begun after it, so one@512 with --window 16 is steady state; 0 means all of a pull")
	fs.Float64Var(&o.latencySigma, "latency-sigma",
		0, "children take log-normal times of this sigma, of median 1 s; 0 means 1 s each")
	fs.IntVar(&o.parallel, "parallel", runtime.NumCPU(), "runs played at once")
	fs.StringVar(&o.csv, "csv", "", "file for a row for each run and score to reach (CSV)")
	fs.StringVar(&o.estimate, "estimate", "",
		"do nothing but estimate what policies would have earned in a bandit's result `file`")
	fs.IntVar(&o.limit, "T-cap-per-arm", 0, "with --estimate: the cap that the run had; 0 means none")
	fs.StringVar(&o.plots, "plots", "", "folder for plots (SVG)")
}

// study returns the study that the flags ask for, without its settings.
func (o *options) study() (race.StudyConfig, error) {
	cfg := race.StudyConfig{StudyConfig: sim.StudyConfig{Runs: o.runs, Seed: o.seed, InFlight: o.inFlight,
		Parallel: o.parallel}}
	for name, value := range map[string]int{"runs": o.runs, "in-flight": o.inFlight, "parallel": o.parallel} {
		if value < 1 {
			return cfg, cli.Usagef("--%s is %d: need at least 1", name, value)
		}
	}
	if !(o.delaySigma >= 0 && o.delaySigma <= 10) {
		return cfg, cli.Usagef("--delay-sigma is %v: need 0 to 10", o.delaySigma)
	}
	if o.delaySigma > 0 {
		cfg.Delay = logNormal(o.delaySigma)
	}
	err := o.latencies(&cfg)
	if err != nil {
		return cfg, err
	}
	if cfg.Contenders, err = o.chosen("policies", o.policies); err != nil {
		return cfg, err
	}
	if err := distinct(cfg.Contenders); err != nil {
		return cfg, err
	}
	for i := range cfg.Contenders {
		cfg.Contenders[i].Window = o.window
	}
	if cfg.Multiples, err = numbers("multiples", o.multiples); err != nil {
		return cfg, err
	}
	cfg.Scores, err = numbers("scores", o.scores)
	return cfg, err
}

// logNormal returns times of median 1 whose logarithm is normal with deviation sigma.
func logNormal(sigma float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Exp(sigma * r.NormFloat64()) }
}

func distinct(all []race.Contender) error {
	sorted := slices.Sorted(slices.Values(names(all)))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return cli.Usagef("--policies: %q is named twice", sorted[i])
		}
	}
	return nil
}

// groups returns the settings to play, a group for each K, N and T.
func (o *options) groups() ([][]sim.Setting, error) {
	fs, banks, err := o.played()
	if err != nil {
		return nil, err
	}
	lists := make(map[string][]int)
	for name, list := range map[string]string{"K": o.arms, "N": o.playedN(banks), "T": o.rounds} {
		if lists[name], err = counts(name, list); err != nil {
			return nil, err
		}
	}
	var groups [][]sim.Setting
	for _, k := range lists["K"] {
		for _, n := range lists["N"] {
			all := append(slices.Clone(fs), at(banks, n)...)
			if len(all) == 0 {
				return nil, cli.Usagef("--N is %d: no bank has searches of as many children to a generation", n)
			}
			if err := check(all, k, n); err != nil {
				return nil, err
			}
			for _, t := range lists["T"] {
				var group []sim.Setting
				for _, f := range all {
					group = append(group, sim.Setting{Family: f, Arms: k, N: n, Rounds: t})
				}
				groups = append(groups, group)
			}
		}
	}
	return groups, nil
}

// played returns what is played over: families or the searches of logs, and banks beside or instead of them.
func (o *options) played() (fs []sim.Family, banks []*sim.Bank, err error) {
	if banks, err = o.readBanks(); err != nil {
		return nil, nil, err
	}
	switch {
	case o.logs != "" && len(banks) > 0:
		return nil, nil, cli.Usagef("--logs and --bank: give one of them")
	case o.logs != "":
		fs, err = o.searches()
	case len(banks) == 0 || o.given["families"]:
		fs, err = families(o.families)
	}
	return fs, banks, err
}

// check returns an error if there are fewer recorded searches than arms.
func check(fs []sim.Family, k, n int) error {
	for _, f := range fs {
		switch f := f.(type) {
		case replay.Family:
			if k > len(f.Arms) {
				return cli.Usagef("--K is %d: the logs have %d searches", k, len(f.Arms))
			}
		case *sim.Bank:
			if err := f.Check(k, n); err != nil {
				return cli.Usagef("--K is %d: %w", k, err)
			}
		}
	}
	return nil
}

// searches returns the family that has the searches of --logs.
func (o *options) searches() ([]sim.Family, error) {
	var paths []string
	for _, pattern := range split(o.logs) {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			return nil, cli.Usagef("--logs: no file like %q", pattern)
		}
		paths = append(paths, found...)
	}
	l, err := replay.ReadFiles(paths...)
	if err != nil {
		return nil, cli.Usagef("--logs: %w", err)
	}
	o.children = fmt.Sprint(max(replay.Size(l.Arms), 1))
	return []sim.Family{replay.Family{Name: "logs", Arms: l.Arms}}, nil
}

// against returns the policies to compare with: those of the flag that are played. It returns an error if --than is no
// policy either.
func (o *options) against(played []race.Contender) ([]string, error) {
	if _, err := o.chosen("than", o.than); err != nil {
		return nil, err
	}
	if o.baselines == "" {
		return nil, nil
	}
	if _, err := o.chosen("baselines", o.baselines); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(split(o.baselines),
		func(name string) bool { return !slices.Contains(names(played), name) }), nil
}

// counts reads a list of numbers of at least 1.
func counts(name, list string) ([]int, error) {
	var ints []int
	for _, item := range split(list) {
		n, err := strconv.Atoi(item)
		if err != nil || n < 1 {
			return nil, cli.Usagef("--%s: %q: need whole numbers, at least 1", name, item)
		}
		ints = append(ints, n)
	}
	return ints, nil
}

// numbers reads a list of positive numbers, which may be empty.
func numbers(name, list string) ([]float64, error) {
	floats := []float64{} // not nil, which would mean the default
	if list == "" {
		return floats, nil
	}
	for _, item := range split(list) {
		v, err := strconv.ParseFloat(item, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return nil, cli.Usagef("--%s: %q: need positive numbers", name, item)
		}
		floats = append(floats, v)
	}
	return floats, nil
}

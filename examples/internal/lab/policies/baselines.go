package policies

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/race"
)

// searches returns the baselines that any allocation has to beat: one greedy search with the whole budget, which takes
// strictly better children or also equally good ones, and two and three searches under ei. All but the strict one take
// ties, as all policies' searches do.
func searches() []race.Contender {
	only := func(sim.Setting) bandit.Policy { return bandit.Random{} } // of one arm
	return []race.Contender{
		{Contender: sim.Contender{Name: "one", Arms: 1, New: only}},
		{Contender: sim.Contender{Name: "one-neutral", Arms: 1, New: only}, Neutral: true},
		{Contender: sim.Contender{Name: "two", Arms: 2, New: newEI}, Neutral: true},
		{Contender: sim.Contender{Name: "three", Arms: 3, New: newEI}, Neutral: true},
	}
}

func newEI(s sim.Setting) bandit.Policy { return &bandit.ExpectedImprovement{T: s.Calls()} }

// widened returns the contender that a name with a breadth after "@" means: "ei@adaptive", "ucb@16", and
// with several "ei@1+4+16".
func widened(all []race.Contender, name string) (c race.Contender, err error) {
	policy, width, found := strings.Cut(name, "@")
	if err := cli.RemovedPolicy(policy); err != nil {
		return c, err
	}
	if strings.Contains(width, "+") && !strings.Contains(width, ":") {
		return between(all, name, policy, width)
	}
	i := slices.IndexFunc(all, func(c race.Contender) bool { return c.Name == policy })
	if i < 0 {
		return c, fmt.Errorf("unknown policy %q: it is one of %s, or all; with @adaptive or @N after it for the "+
			"breadth, or @N+N+N for a search of each", policy, strings.Join(names(all), ", "))
	}
	c = all[i]
	if !found {
		return c, nil
	}
	c.Name = name
	c.Breadth, err = breadthOf(width)
	if slices.Contains(cli.PolicyKeys(), policy) {
		c.New = policyOf(policy, func(s sim.Setting) int {
			if n, ok := c.Breadth.(breadth.Fixed); ok {
				return s.Calls() / int(n)
			}
			return 0 // the breadth follows the search
		})
	}
	return c, err
}

// breadthOf reads a breadth: adaptive, adaptive:S where a second is worth S calls, or a number of children.
func breadthOf(name string) (evolve.Breadth, error) {
	kind, second, valued := strings.Cut(name, ":")
	switch {
	case kind == "adaptive" && valued:
		s, err := strconv.ParseFloat(second, 64)
		if err != nil || !(s >= 0) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("breadth %q: need the calls that a second is worth after the colon", name)
		}
		return breadth.Adaptive{Second: s}, nil
	case name == "adaptive":
		return breadth.Adaptive{}, nil
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > evolve.MaxN {
		return nil, fmt.Errorf("breadth %q: it is adaptive, adaptive:S, or 1 to %d children", name, evolve.MaxN)
	}
	return breadth.Fixed(n), nil
}

// raced returns an error if recorded searches would be stepped differently than when they were recorded.
func raced(cfg race.StudyConfig, groups [][]sim.Setting) error {
	i := slices.IndexFunc(cfg.Contenders, func(c race.Contender) bool { return c.Breadth != nil || c.Window > 0 })
	if i < 0 && cfg.Slots == 0 && cfg.Latency == nil {
		return nil
	}
	for _, s := range slices.Concat(groups...) {
		if _, ok := s.Family.(race.Stepper); !ok {
			return cli.Usagef("%v has recorded searches, which cannot be stepped in another way: leave out breadths "+
				"(policy@breadth), --slots, --latency-sigma and --window", s.Family)
		}
	}
	return nil
}

// latencies are those of --latency-sigma, with --slots.
func (o *options) latencies(cfg *race.StudyConfig) error {
	timed := o.given["latency-sigma"] || o.slots > 0
	switch {
	case o.slots < 0:
		return cli.Usagef("--slots is %d: need 0 for no limit, or more", o.slots)
	case o.window < 0:
		return cli.Usagef("--window is %d: need 0 for all children of a pull, or more", o.window)
	case !(o.latencySigma >= 0 && o.latencySigma <= 10):
		return cli.Usagef("--latency-sigma is %v: need 0 to 10", o.latencySigma)
	case o.delaySigma > 0 && (timed || o.window > 0):
		return cli.Usagef("--delay-sigma has no effect with --slots, --latency-sigma or --window: pulls take as long as " +
			"their children do")
	}
	cfg.Slots = o.slots
	if timed {
		cfg.Latency = logNormal(o.latencySigma)
	}
	return nil
}

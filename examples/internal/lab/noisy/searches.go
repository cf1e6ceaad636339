// Package noisy has the studies of searches where scores are noisy: ways to deal with noise, and what they gain on
// families with a given noise and on programs that are really timed.
package noisy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/compare"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/landscape"
	"github.com/evoalloc/evoalloc/task"
)

// A Family is a kind of landscape with noise on every evaluation.
type Family struct {
	compare.Family
	Median float64 // by how much the median evaluation of a program is above its true score
}

// Families returns three families with noise of a law, of which the standard deviation is level typical gains: those of
// [landscape.WithLaw]. "words-0.5" is the name of the first with normal noise of half a gain.
func Families(law landscape.Law, level float64) []Family {
	var all []Family
	medians := landscape.Medians(law, level)
	for i, f := range landscape.WithLaw(law, level) {
		all = append(all, Family{compare.Family{Name: f.Name, Make: func(seed uint64) (compare.Problem, error) {
			p, err := f.Make(seed)
			return compare.Problem(p), err
		}}, medians[i]})
	}
	return all
}

// OfTails are ways to deal with noise that has tails: once and default of [Searches], and default where each evaluation
// is the median or the best of three.
func OfTails() []compare.Search {
	all := Searches()[:2]
	for name, place := range map[string]int{"median-3": 1, "best-3": 2} {
		all = append(all, compare.Search{Name: name, Make: func(s compare.Setting) (evolve.Config, error) {
			s.Task = task.WithEvaluator(s.Task, ranked{eval.Repeat(s.Task, 3).(eval.Composite), place})
			return rescoring(s)
		}})
	}
	slices.SortStableFunc(all[2:], func(a, b compare.Search) int { return strings.Compare(b.Name, a.Name) })
	return all
}

// ranked is three evaluations of which one counts, by its place from the lowest score.
type ranked struct {
	eval.Composite
	place int
}

// Join returns the one that counts, or the first that is invalid.
func (r ranked) Join(_ string, parts []eval.Result) (eval.Result, error) {
	for _, p := range parts {
		if !p.Valid {
			return p, nil
		}
	}
	slices.SortFunc(parts, func(a, b eval.Result) int { return cmp.Compare(a.Score, b.Score) })
	return parts[r.place], nil
}

// Evaluate evaluates program three times.
func (r ranked) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return eval.Compose(ctx, r, program)
}

// String names the evaluator and the place.
func (r ranked) String() string { return fmt.Sprintf("%v of %v", r.place, r.Composite) }

// rescoring is greedy search of means.
func rescoring(s compare.Setting) (evolve.Config, error) {
	cfg := population.Config{Task: s.Task, LLM: s.LLM, Seed: s.Seed, N: 1}
	if s.Noisy {
		cfg.Noise = &evolve.Noise{}
	}
	p, err := population.New(cfg)
	return evolve.Config{Arms: []evolve.Arm{p}}, err
}

// Searches are ways to deal with noise, each of one child a step.
//
//   - once: greedy search that scores every program once
//   - default: greedy search of means, by a Noise without any setting
//   - every-4: once, with the mean of four evaluations for every program
func Searches() []compare.Search {
	return []compare.Search{
		compare.Greedy("once", evolve.GreedyConfig{N: 1, Strict: true}),
		{Name: "default", Make: rescoring},
		{Name: "every-4", Make: func(s compare.Setting) (evolve.Config, error) {
			s.Task = task.WithEvaluator(s.Task, eval.Repeat(s.Task, 4))
			return compare.Greedy("every-4", evolve.GreedyConfig{N: 1, Strict: true}).Make(s)
		}},
	}
}

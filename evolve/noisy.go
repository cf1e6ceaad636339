package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/noise"
)

// firstFresh is the number of the first fresh sample of a program. Searches number samples from 0, and children's by
// their seeds.
const firstFresh = 1 << 30

// maxRescore is the most programs that a search may score again for each child.
const maxRescore = 64

// A claimant is an arm that says how noisy its task is. A [Breeder] is one, and so is what embeds it.
type claimant interface {
	Noise() (rescore float64, fresh int)
	Claim(ctx context.Context, turn *Turn, program string, n int) (eval.Result, error)
}

// claimantOf returns the claimant that a is, or that it wraps: an arm around another has a method Unwrap() Arm.
func claimantOf(a Arm) (claimant, bool) {
	for a != nil {
		if c, ok := a.(claimant); ok {
			return c, true
		}
		wrapper, ok := a.(interface{ Unwrap() Arm })
		if !ok {
			break
		}
		a = wrapper.Unwrap()
	}
	return nil, false
}

// Noise returns how many evaluations a search of a noisy task makes beside its children's: rescore for each child, and
// fresh of the best program once the run is over. Both are 0 unless the Breeder is Noisy.
func (b *Breeder) Noise() (rescore float64, fresh int) {
	if !b.Noisy {
		return 0, 0
	}
	return max(b.Rescore, 0), noise.Or(b.Fresh, noise.Fresh)
}

// Claim scores program on n fresh samples, which no search has seen, and pools them. A run calls it with its best program
// once it is over: that was chosen for its score, so the score claims too much. It returns what there is of the samples,
// and the error that kept it from the others.
func (b *Breeder) Claim(ctx context.Context, turn *Turn, program string, n int) (eval.Result, error) {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = firstFresh + i
	}
	results, errs := b.samples(ctx, turn, slices.Repeat([]string{program}, n), numbers)
	var have []eval.Result
	for i, r := range results {
		if errs[i] == nil {
			have = append(have, r)
		}
	}
	err := cmp.Or(errs...)
	if len(have) == 0 {
		return eval.Result{}, err
	}
	return eval.Pool(have...), err
}

// samples evaluates each program for the sample of the same place, as many at once as the search has had children under way.
func (b *Breeder) samples(ctx context.Context, turn *Turn, programs []string, numbers []int) ([]eval.Result, []error) {
	results, errs := make([]eval.Result, len(programs)), make([]error, len(programs))
	places := make(chan struct{}, max(1, b.widest))
	var wg sync.WaitGroup
	for i, program := range programs {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			errs[i] = errors.New("evolve: scoring a program again ended its goroutine") // stands if runtime.Goexit does
			var err error
			if bad := guard("scoring a program again", func() { results[i], err = turn.Evaluate(ctx, b.Task, program, numbers[i]) }); bad != nil {
				err = bad
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return results, errs
}

// Resample scores programs again, for a search of a noisy task. The samples have numbers that no other sample of the
// search has, in the order of programs. A result is nil where the budget had no room, which the turn has noted, or where a failed call cost the sample.
func (b *Breeder) Resample(ctx context.Context, turn *Turn, programs []string) ([]*eval.Result, error) {
	numbers := make([]int, len(programs))
	for i := range numbers {
		b.resampled++
		numbers[i] = b.resampled
	}
	results, errs := b.samples(ctx, turn, programs, numbers)
	list := make([]*eval.Result, len(programs))
	for i, err := range errs {
		if _, refused := Refused(err); refused || Lost(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("evolve: scoring a program again in step %d: %w", b.steps, err)
		}
		list[i] = &results[i]
	}
	return list, nil
}

// Lead makes c the best so far. A search of a noisy task calls it when it has scored programs again: the best is then the
// one with the best mean, and its score may have fallen.
func (b *Breeder) Lead(c Child) { b.best, b.bestID = c.Candidate, c.ID }

// incumbents are the best programs of a greedy search of a noisy task, each with the mean of its samples, best first. Of
// equals the older is first, or the newer in a search that is Neutral.
type incumbents struct {
	noise.Tally
	keep    int
	neutral bool
	list    []Child
	left    int // how many may still be scored again in this step
}

// add takes a valid program in, unless others are better.
func (in *incumbents) add(c Child) {
	in.list = append(in.list, c)
	in.sort()
	in.list = in.list[:min(in.keep, len(in.list))]
}

func (in *incumbents) sort() {
	slices.SortStableFunc(in.list, func(a, b Child) int {
		switch {
		case a.Better(b.Candidate):
			return -1
		case b.Better(a.Candidate):
			return 1
		case in.neutral:
			return b.ID - a.ID
		}
		return a.ID - b.ID
	})
}

func (in *incumbents) stats() []noise.Stat {
	stats := make([]noise.Stat, len(in.list))
	for i, c := range in.list {
		stats[i] = noise.Stat{Mean: c.Result.Score, N: c.Result.N()}
	}
	return stats
}

// rescore scores those again that are due, and makes the best mean the search's best.
func (g *Greedy) rescore(ctx context.Context, turn *Turn) error {
	in := g.again
	due := in.Due(in.stats(), in.left)
	if len(due) == 0 {
		return nil
	}
	in.left -= len(due)
	programs := make([]string, len(due))
	for i, at := range due {
		programs[i] = in.list[at].Program
	}
	results, err := g.Resample(ctx, turn, programs)
	if err != nil {
		return err
	}
	for i, at := range due {
		if r, c := results[i], &in.list[at]; r != nil {
			if r.Valid && c.Result.Valid {
				in.Sample(noise.Stat{Mean: c.Result.Score, N: c.Result.N()}, r.Score, r.N())
			}
			c.Result = eval.Pool(c.Result, *r)
		}
	}
	in.sort()
	g.Lead(in.list[0])
	g.of = -1 // the prompt shows the score
	return nil
}

// scored takes a child of a noisy task in.
func (g *Greedy) scored(c Child) {
	distance := math.NaN()
	if c.Scored() && c.Result.Valid {
		distance = c.Result.Score - g.again.list[0].Result.Score
		g.again.add(c)
		g.Lead(g.again.list[0])
	}
	g.again.Child(distance)
}

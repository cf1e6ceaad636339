package evolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/resample"
)

// Noise says what a search does about an evaluator that may score the same program differently. Every child is
// evaluated then, by a sample of its own. The zero value has the defaults.
//
// A program is the mean of its samples. The best ones are kept, for each child some of them are scored again, and the
// parent is the best mean. Otherwise a lucky score stays for ever, as the parent and as the result. Once the run is
// over, its best is scored on fresh samples, which the search has not seen. All this is within Budget.Evaluations. See
// docs/guide.md.
type Noise struct {
	// Rescore is how many programs are scored again for each child, at most 64; 0 means 0.25, negative none. Where scores
	// that are taken again turn out to agree, it is one for 32 children.
	Rescore float64
	// Keep is how many programs may be scored again, the best ones; 0 means 4.
	Keep int
	// Fresh is how many fresh samples the best program is scored on once the run is over; 0 means 8, negative none.
	Fresh int
}

// maxRescore is the most programs that a search may score again for each child.
const maxRescore = 64

// WithDefaults returns n with the defaults in place of zeros, and fails if a field is wrong. Of nil, which stands for
// exact scores, it returns nil. docs/claims.md has the figures that the defaults rest on.
func (n *Noise) WithDefaults() (*Noise, error) {
	switch {
	case n == nil:
		return nil, nil
	case !(n.Rescore <= maxRescore): // NaN too
		return nil, fmt.Errorf("evolve: Noise.Rescore is %v: need at most %d for each child", n.Rescore, maxRescore)
	case n.Keep < 0:
		return nil, fmt.Errorf("evolve: Noise.Keep is %d: need 0 for 4, or more", n.Keep)
	}
	return &Noise{Rescore: cmp.Or(n.Rescore, 0.25), Keep: cmp.Or(n.Keep, 4), Fresh: cmp.Or(n.Fresh, 8)}, nil
}

// Rescore scores those of a noisy search's best programs again that are due. Pass the valid ones, best first; the best
// Noise.Keep are looked at. It returns for each its result with the new samples, nil if it has none. Call it before
// each brief, since a steady-state search is one step, and then [Breeder.Lead] with the best mean.
//
// Samples have numbers in the order in which they are due, whichever ends first. Where the budget has no room, which
// the turn has noted, or where a failed call cost a sample, there is none. Children are not scored several times:
// there are many, and what does the harm is a parent with a lucky score.
func (b *Breeder) Rescore(ctx context.Context, turn *Turn, best []eval.Candidate) ([]*eval.Result, error) {
	again := make([]*eval.Result, len(best))
	if b.sampling == nil {
		return again, nil
	}
	best = slices.Clone(best[:min(b.noise().Keep, len(best))])
	stats := make([]resample.Stat, len(best))
	for i, c := range best {
		stats[i] = resample.Stat{Mean: c.Result.Score, N: c.Result.N()}
	}
	due := b.sampling.Due(stats)
	programs, numbers := make([]string, len(due)), make([]int, len(due))
	for i, at := range due {
		programs[i], numbers[i] = best[at].Program, b.sampling.Number()
	}
	results, errs := b.samples(ctx, turn, programs, numbers)
	for _, err := range errs {
		if _, refused := Refused(err); err != nil && !refused && !Lost(err) {
			return nil, fmt.Errorf("evolve: scoring a program again in step %d: %w", b.steps, err)
		}
	}
	for i, at := range due {
		if errs[i] != nil {
			continue
		}
		c := &best[at].Result
		if results[i].Valid && c.Valid {
			b.sampling.Sample(resample.Stat{Mean: c.Score, N: c.N()}, results[i].Score, results[i].N())
		}
		*c = eval.Pool(*c, results[i])
		again[at] = c
	}
	return again, nil
}

// samples evaluates each program for the sample of the same place, as many at once as the search has had children
// under way.
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
			bad := guard("scoring a program again", func() {
				results[i], err = turn.Evaluate(ctx, b.Task, program, numbers[i])
			})
			errs[i] = cmp.Or(bad, err)
		})
	}
	wg.Wait()
	return results, errs
}

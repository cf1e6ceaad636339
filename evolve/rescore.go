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
	"github.com/evoalloc/evoalloc/evolve/internal/fault"
)

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
	stats := make([]sampleStat, len(best))
	for i, c := range best {
		stats[i] = sampleStat{c.Result.Score, c.Result.N()}
	}
	due := b.sampling.due(stats)
	programs, numbers := make([]string, len(due)), make([]int, len(due))
	for i, at := range due {
		programs[i], numbers[i] = best[at].Program, b.sampling.number()
	}
	results, errs := b.samples(ctx, turn, programs, numbers)
	for _, err := range errs {
		if _, refused := Refused(err); err != nil && !refused && !Lost(err) {
			return nil, fmt.Errorf("evolve: scoring a program again in step %d: %w", b.now.number, err)
		}
	}
	for i, at := range due {
		if errs[i] != nil {
			continue
		}
		c := &best[at].Result
		if results[i].Valid && c.Valid {
			b.sampling.sample(sampleStat{c.Score, c.N()}, results[i].Score, results[i].N())
		}
		*c = eval.Pool(*c, results[i])
		again[at] = c
	}
	return again, nil
}

// samples evaluates each program for the sample of the same index, as many at once as the search has had children
// under way.
func (b *Breeder) samples(ctx context.Context, turn *Turn, programs []string, numbers []int) ([]eval.Result, []error) {
	results, errs := make([]eval.Result, len(programs)), make([]error, len(programs))
	slots := make(chan struct{}, max(1, b.widest))
	var wg sync.WaitGroup
	for i, program := range programs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = errors.New("evolve: scoring a program again ended its goroutine") // stands if runtime.Goexit does
			var err error
			bad := fault.Guard("scoring a program again", func() {
				results[i], err = turn.Evaluate(ctx, b.Task, program, numbers[i])
			})
			errs[i] = cmp.Or(bad, err)
		})
	}
	wg.Wait()
	return results, errs
}

// Unless the noise is seen, one program is scored again for so many children, to see it if it comes.
const (
	quietRescore = 1.0 / 32
	quietAfter   = 3   // times that programs were scored again
	quietShare   = 0.1 // of the median distance of a child's score from the best's
	quietWindow  = 32  // children whose distances are looked at
)

// A sampleSchedule knows how noisy the scores of a search are. It decides how many programs are scored again, and
// which. One goroutine at a time uses it.
type sampleSchedule struct {
	rate float64 // programs scored again for each child
	left int     // how many may still be scored again in this step

	numbered  int // samples
	owed      float64
	squares   float64 // of samples around the mean of those before them
	df        int
	distances []float64 // of the newest children's scores from the best's, oldest first
}

// newSampleSchedule returns that of a search that scores so many programs again for each child.
func newSampleSchedule(rate float64) *sampleSchedule { return &sampleSchedule{rate: rate} }

// begin begins a step of n children: it scores no more programs again than evaluations are set aside for.
func (s *sampleSchedule) begin(n int) { s.left = int(math.Ceil(s.rate * float64(n))) }

// child counts a child that was taken in, with the distance of its score from that of the best then if it is valid.
func (s *sampleSchedule) child(valid bool, distance float64) {
	if valid {
		if s.distances = append(s.distances, math.Abs(distance)); len(s.distances) > quietWindow {
			s.distances = s.distances[1:]
		}
	}
	if s.quiet() {
		s.owed += min(s.rate, quietRescore)
	} else {
		s.owed += s.rate
	}
}

// A sampleStat is what is known of a program: the mean of its samples, and their number.
type sampleStat struct {
	mean float64
	n    int
}

// number returns the number of the next sample of a program that is scored again, from 1.
func (s *sampleSchedule) number() int {
	s.numbered++
	return s.numbered
}

// sample takes in the mean of n more samples of a program with the given stat. With d the distance of the two means and
// m the samples before, d²·m·n/(m+n) estimates the variance of one sample without bias.
func (s *sampleSchedule) sample(before sampleStat, mean float64, n int) {
	d, m, k := mean-before.mean, float64(before.n), float64(n)
	s.squares += d * d * m * k / (m + k)
	s.df++
}

// sd estimates the standard deviation of one sample; 0 before a program was scored again.
func (s *sampleSchedule) sd() float64 {
	if s.df == 0 {
		return 0
	}
	return math.Sqrt(s.squares / float64(s.df))
}

// quiet reports whether the noise is too small to matter: a tenth of what children's scores typically differ by from
// the best's. To score such programs again would only cost children.
func (s *sampleSchedule) quiet() bool {
	if s.df < quietAfter || len(s.distances) == 0 {
		return false
	}
	sorted := slices.Sorted(slices.Values(s.distances))
	return s.sd() <= quietShare*sorted[len(sorted)/2]
}

// due returns which of the programs are scored again now: for each the index of the one whose mean plus a standard
// error is the largest, where a sample that is due counts as taken. So the best is looked at until others could be
// better, and a program that was scored once has the benefit of the doubt, as under UCB (P. Auer, N. Cesa-Bianchi and
// P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", 2002).
func (s *sampleSchedule) due(programs []sampleStat) []int {
	k := min(int(s.owed), s.left)
	if k <= 0 || len(programs) == 0 {
		return nil
	}
	s.owed -= float64(k)
	s.left -= k
	stats, sd := slices.Clone(programs), s.sd()
	chosen := make([]int, k)
	for i := range chosen {
		best := 0
		for j, at := range stats {
			if at.above(stats[best], sd) {
				best = j
			}
		}
		stats[best].n++
		chosen[i] = best
	}
	return chosen
}

// above reports whether s could be better than o, where one sample has the standard deviation sd.
func (s sampleStat) above(o sampleStat, sd float64) bool {
	x, y := s.mean+sd/math.Sqrt(float64(s.n)), o.mean+sd/math.Sqrt(float64(o.n))
	return x > y || x == y && s.n < o.n
}

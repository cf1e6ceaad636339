package eval

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Samples are the scores of one program in several independent evaluations. The Score of a [Result] with Samples is
// their mean.
type Samples struct {
	N  int     `json:"n"`  // how many there are; at least 2
	SD float64 `json:"sd"` // their standard deviation, with N − 1 in the denominator
	// Scores are the samples, in the order in which they were taken; the first [MaxCases] of them.
	Scores []float64 `json:"scores,omitempty"`
}

// N returns the number of evaluations that r pools: 1 without Samples.
func (r Result) N() int {
	if r.Samples == nil {
		return 1
	}
	return r.Samples.N
}

// SE returns the standard error of the score, SD/√N. It is unknown for one sample.
func (r Result) SE() (se float64, known bool) {
	if r.Samples == nil || r.Samples.N < 2 {
		return 0, false
	}
	return r.Samples.SD / math.Sqrt(float64(r.Samples.N)), true
}

// Pool joins results of one program into one: its score is the mean x̄ of all samples xᵢ, and its Samples have
//
//	SD = √(Σ (xᵢ − x̄)² / (n − 1))
//
// A pooled result counts with all of its samples. A metric is the mean over the results that have it, and a case the
// mean over all results, each weighted by its samples; cases are left out unless all results have equally many.
// Artifacts are those of the first.
//
// A single result is returned unchanged. A program that is invalid once is bad: the pool is then the first invalid
// result, without the scores of the others. Pool panics without a result.
func Pool(results ...Result) Result {
	if len(results) == 0 {
		panic("eval: Pool of no results: need at least 1")
	}
	if len(results) == 1 {
		return results[0].Clone()
	}
	for _, r := range results {
		if !r.Valid {
			return r.Clone()
		}
	}
	pooled := results[0].Clone()
	pooled.Score, pooled.Samples = poolScores(results)
	pooled.Metrics, pooled.Cases = poolMetrics(results), poolCases(results)
	return pooled.Clean()
}

// poolScores returns the mean and the samples of all results. Sums of squares are joined as T. Chan, G. Golub and
// R. LeVeque do ("Algorithms for Computing the Sample Variance", 1983), since results may have more samples than they
// keep scores.
func poolScores(results []Result) (mean float64, s *Samples) {
	s = &Samples{}
	var squares float64
	for _, r := range results {
		scores, sd := []float64{r.Score}, 0.0
		if r.Samples != nil {
			scores, sd = r.Samples.Scores, r.Samples.SD
		}
		n, m, d := float64(r.N()), float64(s.N), r.Score-mean
		squares += sd*sd*(n-1) + d*d*n*m/(n+m)
		mean += d * n / (n + m)
		s.N += r.N()
		s.Scores = append(s.Scores, scores...)
	}
	s.SD = math.Sqrt(squares / float64(s.N-1))
	return mean, s
}

func poolMetrics(results []Result) map[string]float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, r := range results {
		for name, v := range r.Metrics {
			sums[name] += v * float64(r.N())
			counts[name] += float64(r.N())
		}
	}
	for name := range sums {
		sums[name] /= counts[name]
	}
	if len(sums) == 0 {
		return nil
	}
	return sums
}

func poolCases(results []Result) []float64 {
	sums, n := make([]float64, len(results[0].Cases)), 0.0
	for _, r := range results {
		if len(r.Cases) != len(sums) {
			return nil
		}
		for i, v := range r.Cases {
			sums[i] += v * float64(r.N())
		}
		n += float64(r.N())
	}
	for i := range sums {
		sums[i] /= n
	}
	return sums
}

// clean returns s as [Result.Clean] keeps it, or nil if its numbers cannot be those of two or more samples.
func (s *Samples) clean() *Samples {
	if s == nil || s.N < 2 || notFinite(s.SD) || s.SD < 0 || slices.ContainsFunc(s.Scores, notFinite) {
		return nil
	}
	if len(s.Scores) <= MaxCases {
		return s
	}
	return &Samples{s.N, s.SD, boundedCases(s.Scores)}
}

func (s *Samples) clone() *Samples {
	if s == nil {
		return nil
	}
	return &Samples{s.N, s.SD, slices.Clone(s.Scores)}
}

// A sampled evaluator is one of several independent evaluations of a program by the same evaluator. Two are equal if
// they are the same sample of it.
type sampled struct {
	Evaluator
	sample int
}

// sampleOf returns e for the sample-th independent evaluation. The parts of a [Composite] are evaluated for that
// sample.
func sampleOf(e Evaluator, sample int) Evaluator {
	if c, ok := e.(Composite); ok {
		return sampledComposite{sampled{e, sample}, c}
	}
	return sampled{e, sample}
}

// Evaluate makes the evaluation of that sample.
func (s sampled) Evaluate(ctx context.Context, program string) (Result, error) {
	return EvaluateSample(ctx, s.Evaluator, program, s.sample)
}

// String names the evaluator and the sample.
func (s sampled) String() string { return fmt.Sprintf("%s, sample %d", nameOf(s.Evaluator), s.sample) }

type sampledComposite struct {
	sampled
	c Composite
}

var _ Composite = sampledComposite{}

// Parts returns the parts for that sample and ignores the argument.
func (s sampledComposite) Parts(program string, _ int) ([]Evaluator, error) {
	return s.c.Parts(program, s.sample)
}

// Join joins as the composite does.
func (s sampledComposite) Join(program string, parts []Result) (Result, error) {
	return s.c.Join(program, parts)
}

// nameOf returns how e prints, or else its type: a struct would print addresses, which differ in every process.
func nameOf(e Evaluator) string {
	if s, ok := e.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", e)
}

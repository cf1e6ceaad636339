package eval

import (
	"cmp"
	"context"
	"fmt"
)

// defaultCopies is the default number of evaluations of the seed program in [ZScore], as in LLM-Evo.
const defaultCopies = 20

// A Scale is an evaluator whose scores are those of another, measured from Mean in units of SD:
//
//	z = (x − Mean) / SD
//
// Cases and Samples are scaled alike, metrics are unchanged, and the metric score_raw holds x. The map is affine and
// rising, so a search that compares scores behaves as before. It makes rewards and targets of different tasks
// comparable: a program at z = 3 is three standard deviations of the seed's noise above the seed.
//
// A Scale is a [Composite] of one part, so a run records x.
type Scale struct {
	Of       Evaluator // required
	Mean, SD float64   // finite, and SD above 0
}

var _ Composite = (*Scale)(nil)

// ZScore evaluates the program seed n times with e and returns e scaled by the mean and the standard deviation of these
// scores. n of 0 means 20.
//
// It fails if an evaluation does, if seed is invalid, if n is 1 or negative, and if all scores are equal: then e is not
// noisy, and its scores need no scale. The evaluations run at once and belong to no run. To resume a run, keep Mean and
// SD and make the Scale from them.
func ZScore(ctx context.Context, e Evaluator, seed string, n int) (*Scale, error) {
	n = cmp.Or(n, defaultCopies)
	if n < 2 {
		return nil, fmt.Errorf("eval: ZScore of %d copies of the seed program: need 0 for %d, or at least 2",
			n, defaultCopies)
	}
	r, err := Repeat(e, n).Evaluate(ctx, seed)
	switch {
	case err != nil:
		return nil, fmt.Errorf("eval: ZScore: evaluating the seed program: %w", err)
	case !r.Valid:
		return nil, fmt.Errorf("eval: ZScore: the seed program is invalid: %s", r.Reason)
	case r.Samples == nil: // which are left out where they are not finite
		return nil, fmt.Errorf("eval: ZScore: %d evaluations of the seed program score %v on average, and their standard "+
			"deviation is too large for a number: use scores of a smaller scale", n, r.Score)
	case r.Samples.SD == 0:
		return nil, fmt.Errorf("eval: ZScore: %d evaluations of the seed program all score %v, so the evaluator is not "+
			"noisy: use it without a scale", n, r.Score)
	}
	return &Scale{Of: e, Mean: r.Score, SD: r.Samples.SD}, nil
}

// Evaluate scores program by Of, and scales the result.
func (s *Scale) Evaluate(ctx context.Context, program string) (Result, error) {
	return Compose(ctx, s, program)
}

// Parts returns the parts of Of, or Of itself for that sample.
func (s *Scale) Parts(program string, sample int) ([]Evaluator, error) {
	if !(s.SD > 0) || notFinite(s.SD) || notFinite(s.Mean) {
		return nil, fmt.Errorf("eval: Scale with mean %v and standard deviation %v: need finite numbers, and the second "+
			"above 0", s.Mean, s.SD)
	}
	if c, ok := s.Of.(Composite); ok {
		return c.Parts(program, sample)
	}
	if sample == 0 {
		return []Evaluator{s.Of}, nil
	}
	return []Evaluator{sampleOf(s.Of, sample)}, nil
}

// Join scales the result of Of.
func (s *Scale) Join(program string, parts []Result) (Result, error) {
	if c, ok := s.Of.(Composite); ok {
		r, err := c.Join(program, parts)
		return s.scaled(r), err
	}
	return s.scaled(parts[0]), nil
}

func (s *Scale) scaled(r Result) Result {
	if !r.Valid {
		return r
	}
	r = r.Clone()
	z := func(x float64) float64 { return (x - s.Mean) / s.SD }
	if r.Metrics == nil {
		r.Metrics = map[string]float64{}
	}
	r.Metrics["score_raw"] = r.Score
	r.Score = z(r.Score)
	for i, x := range r.Cases {
		r.Cases[i] = z(x)
	}
	if r.Samples != nil {
		r.Samples.SD /= s.SD
		for i, x := range r.Samples.Scores {
			r.Samples.Scores[i] = z(x)
		}
	}
	return r.Clean()
}

// String names the evaluator and the scale.
func (s *Scale) String() string {
	return fmt.Sprintf("Scale(%s, mean=%v, sd=%v)", nameOf(s.Of), s.Mean, s.SD)
}

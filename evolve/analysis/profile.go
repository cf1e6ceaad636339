package analysis

// Profile returns the performance profile of s at the given scores: for each the share of runs strictly above it, in
// the mean over strata (the run-score distribution of Agarwal et al., 2021, section 4.2). It shows what any one
// number hides: a profile that lies above another everywhere is that of the better method, and where two cross
// neither is.
func Profile(s Scores, at []float64) []float64 {
	profile := make([]float64, len(at))
	profileInto(s, at, profile)
	return profile
}

func profileInto(s Scores, at, into []float64) {
	for k, tau := range at {
		sum := 0.0
		for _, stratum := range s {
			above := 0
			for _, v := range stratum {
				if v > tau {
					above++
				}
			}
			sum += float64(above) / float64(len(stratum))
		}
		into[k] = sum / float64(len(s))
	}
}

// Profile returns [Profile] with pointwise intervals: each holds its own share at the level, not all of them at once.
// It returns an error as [Bootstrap.Estimate] does.
func (b Bootstrap) Profile(s Scores, at []float64) ([]Interval, error) {
	if err := s.validate("the scores"); err != nil {
		return nil, err
	}
	b, err := b.filled(s.sizes())
	if err != nil {
		return nil, err
	}
	sample := newSampler(s)
	return b.intervals(s.sizes(), Profile(s, at), func(draw [][]int, into []float64) {
		profileInto(sample.take(draw), at, into)
	}), nil
}

package bandit

// spread is a [Tally] that also knows how far the rewards of an arm scatter about their mean.
type spread struct {
	Tally
	squares []float64 // sum of squared deviations from the mean, by arm
}

// Add records one outcome of arm, unless the reward is not finite.
func (s *spread) Add(arm int, reward float64) {
	if !finite(reward) {
		return
	}
	half := reward/2 - s.Mean(arm)/2 // the halves, as the difference may overflow
	s.Tally.Add(arm, reward)
	s.squares = grown(s.squares, arm+1)
	// B. P. Welford's update (Technometrics 4, 1962). The product with 1 − 1/n comes first: it may be
	// 0, and the square of a half infinite.
	s.squares[arm] += 4 * (half * (1 - 1/s.Pulls(arm))) * half
}

// Squares returns the sum of the squared deviations of arm's rewards from their mean. It is +Inf if that is
// too large for a float64, and 0 for an arm without rewards.
func (s *spread) Squares(arm int) float64 {
	if arm >= len(s.squares) {
		return 0
	}
	return s.squares[arm]
}

// Discount multiplies the weight of every outcome so far by gamma.
func (s *spread) Discount(gamma float64) {
	s.Tally.Discount(gamma)
	for arm := range s.squares {
		s.squares[arm] *= gamma
	}
}

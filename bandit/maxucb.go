package bandit

import (
	"cmp"
	"fmt"
	"math"
)

// MaxUCB is for the max-armed bandit, where the best reward counts and not the sum. It pulls the arm with the
// largest
//
//	max + (α·ln t/n)²
//
// where max is the arm's best reward so far, n the number of its pulls and t that of all arms. Arms never
// pulled come first, in order, and ties go to the lowest arm. It is deterministic. Rewards are expected in
// [0, 1], as the second term has that scale; see [Normalize].
//
// The second term falls as 1/n², faster than the 1/√n of [UCB1]. A best reward is known once it has been
// seen, where a mean has to be estimated. This suits rewards that are bounded and often close to their bound.
// An arm whose best stays Δ behind gets about α·ln t/√Δ pulls.
//
// Pending pulls count in n and t. Until the first outcome of an arm is in, its best is taken to be the mean
// of all outcomes, or 0 if there are none.
//
// Source: A. R. Balef, C. Vernade, K. Eggensperger, "Put CASH on Bandits: A Max K-Armed Problem for Automated
// Machine Learning" (2025), which recommends α = 0.5.
type MaxUCB struct {
	// Alpha is the weight α of exploration; 0 means 0.5. For no exploration but the first pull of each
	// arm, give it a tiny value. It panics at the first draw if it is negative or not finite.
	Alpha float64

	seen Tally
	best []float64
}

var _ Policy = (*MaxUCB)(nil)

// Probs gives mass 1 to the arm with the largest index.
func (m *MaxUCB) Probs(p []float64, r Round) {
	alpha := cmp.Or(m.Alpha, 0.5)
	if !(alpha > 0 && finite(alpha)) {
		panicf("MaxUCB.Alpha is %v: need a finite number, at least 0", alpha)
	}
	log := math.Log(max(m.seen.Total()+r.pending(), 1))
	OneHot(p, r.Open, func(arm int) float64 {
		n := m.seen.Pulls(arm) + float64(r.Pending[arm])
		if n == 0 {
			return math.Inf(1)
		}
		best := m.seen.Overall()
		if m.seen.Pulls(arm) > 0 {
			best = m.best[arm]
		}
		width := alpha * log / n
		return best + width*width
	})
}

// Update records one outcome.
func (m *MaxUCB) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	m.best = grown(m.best, pull.Arm+1)
	if m.seen.Pulls(pull.Arm) == 0 || reward > m.best[pull.Arm] {
		m.best[pull.Arm] = reward
	}
	m.seen.Add(pull.Arm, reward)
}

// String names the policy and its parameters.
func (m *MaxUCB) String() string { return fmt.Sprintf("MaxUCB(alpha=%v)", cmp.Or(m.Alpha, 0.5)) }

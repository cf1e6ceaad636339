package bandit

import (
	"cmp"
	"fmt"
	"math"
)

// SuccessiveHalving spreads a budget evenly over all arms, drops the worse half of them, spreads as much over
// those that are left, and so on to the last arm. With K arms, T pulls in all and halving by η there are
// ⌈log_η K⌉ rungs. In each rung every one of the m arms that are left gets
//
//	max(1, ⌊T/(m·⌈log_η K⌉)⌋)
//
// pulls. Then the ⌈m/η⌉ arms go on that have the best rewards after as many pulls as all of them have had; of
// equals, the lower arms. Pulls within a rung go to the arm with the fewest, and ties to the lowest arm. What
// is left of the budget in the end goes to the last arm. It is deterministic.
//
// If T is not known it runs with a budget of K·⌈log_η K⌉, then again from all arms with twice that, and so
// on. The pulls that an arm has had before count.
//
// Suppose that rewards converge to limits ν₁ > ν₂ ≥ ..., and are within γ(n) of them after n pulls. Then for
// η = 2 it ends with the best arm if T is at least 2·⌈log₂ K⌉·(K + Σᵢ γ⁻¹((ν₁ − νᵢ)/2)), where γ⁻¹(x) is the
// number of pulls that bring γ to x, and i goes from 2.
//
// A rung is over when the outcomes of all its pulls are in. Draws before that, while they are pending, go to
// the best arm that is left, which is likely to need them in the next rung. An arm that is closed and has no
// pending pull is taken for exhausted: the rung does not wait for it, and it goes on with what it has. When
// no arm that is left is open, the best open one is pulled.
//
// Sources: Z. Karnin, T. Koren, O. Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 2013; K.
// Jamieson, A. Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS
// 2016, theorem 1. They rank by the mean and by the last reward. Here it is the best one, which for a
// search's best score so far is the last.
type SuccessiveHalving struct {
	// T is the number of pulls of all arms in the whole run; 0 means not known. It panics at the first draw
	// if it is negative.
	T int
	// Eta is η; 0 means 2. It panics at the first draw if it is negative or 1.
	Eta int

	seen  courses
	alive []int // scratch
}

var _ Policy = (*SuccessiveHalving)(nil)

// Probs gives mass 1 to the arm whose turn it is. It goes through the rungs anew at every draw and keeps
// nothing of them, since it must not change the policy, and a late outcome may still change which arms went
// on.
func (s *SuccessiveHalving) Probs(p []float64, r Round) {
	eta := cmp.Or(s.Eta, 2)
	switch {
	case s.T < 0:
		panicf("SuccessiveHalving.T is %v: need a number of pulls, or 0 for not known", s.T)
	case eta < 2:
		panicf("SuccessiveHalving.Eta is %v: need at least 2, or 0 for 2", s.Eta)
	}
	rungs := max(1, logCeil(len(p), eta))
	if s.T > 0 {
		p[s.bracket(s.T, rungs, eta, r, true)] = 1
		return
	}
	for budget := len(p) * rungs; ; budget *= 2 {
		if arm := s.bracket(budget, rungs, eta, r, false); arm >= 0 {
			p[arm] = 1
			return
		}
	}
}

// bracket goes through the rungs of a budget and returns the arm whose turn it is. When the rungs are over it
// returns the last arm if rest says that this one gets what is left of the budget, else -1.
func (s *SuccessiveHalving) bracket(budget, rungs, eta int, r Round, rest bool) int {
	s.alive = s.alive[:0]
	for arm := range r.Open {
		s.alive = append(s.alive, arm)
	}
	upTo := 0
	for range rungs {
		upTo += max(1, budget/(len(s.alive)*rungs))
		switch arm, over := s.turn(upTo, r); {
		case arm >= 0:
			return arm
		case !over:
			return s.best(r)
		}
		s.seen.rank(s.alive, upTo)
		s.alive = s.alive[:(len(s.alive)+eta-1)/eta]
	}
	if rest {
		return s.best(r)
	}
	return -1
}

// turn returns the arm with the fewest pulls among those that are left, open and have fewer than upTo, or -1
// if there are none. In that case over reports whether the rung is over; it is not while pulls of it are
// pending.
func (s *SuccessiveHalving) turn(upTo int, r Round) (arm int, over bool) {
	arm, over = -1, true
	pulls := func(a int) int { return s.seen.pulls(a) + r.Pending[a] }
	for _, a := range s.alive {
		if r.Open[a] && pulls(a) < upTo && (arm < 0 || pulls(a) < pulls(arm) || pulls(a) == pulls(arm) && a < arm) {
			arm = a
		}
		if s.seen.pulls(a) < upTo && r.Pending[a] > 0 {
			over = false
		}
	}
	return arm, over
}

// best returns the open arm with the best reward: of the arms that are left if any of them is open, else of
// all. Of equals it is the one with fewer pending pulls.
func (s *SuccessiveHalving) best(r Round) int {
	at, left := -1, false
	better := func(a int) bool {
		d := cmp.Or(cmp.Compare(s.seen.now(a), s.seen.now(at)), cmp.Compare(r.Pending[at], r.Pending[a]))
		return d > 0 || d == 0 && a < at
	}
	for _, a := range s.alive {
		if r.Open[a] && (at < 0 || better(a)) {
			at, left = a, true
		}
	}
	for a, open := range r.Open {
		if !left && open && (at < 0 || better(a)) {
			at = a
		}
	}
	return at
}

// Update records one outcome.
func (s *SuccessiveHalving) Update(pull Pull, reward float64) { s.seen.add(pull.Arm, reward) }

// AnyScale reports that rewards may be on any scale.
func (s *SuccessiveHalving) AnyScale() bool { return true }

// String names the policy and its parameters.
func (s *SuccessiveHalving) String() string {
	return fmt.Sprintf("SuccessiveHalving(T=%v, eta=%v)", s.T, cmp.Or(s.Eta, 2))
}

// logCeil returns ⌈log_b n⌉, 0 for n = 1.
func logCeil(n, b int) int {
	k := 0
	for p := 1; p < n; k++ {
		if p > math.MaxInt/b {
			return k + 1
		}
		p *= b
	}
	return k
}

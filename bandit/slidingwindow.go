package bandit

import (
	"cmp"
	"fmt"
	"math"
)

// SlidingWindow is SW-UCB, [UCB1] over a window of the last τ outcomes, for arms whose rewards change
// abruptly. It pulls the arm with the largest
//
//	x̄ + sqrt(ξ·ln min(t, τ)/n)
//
// where n is the number of the arm's pulls within the window, x̄ the mean of its rewards there and t the
// number of pulls of all arms. Arms without a pull in the window come first, in order, and ties go to the
// lowest arm. It is deterministic. Rewards are expected in [0, 1]; see [Normalize].
//
// The window that the source recommends for T pulls, during which the rewards change once, is τ = 2·sqrt(T·ln
// T). If T is not known, the number of outcomes so far takes its place, so τ grows. For a window whose edge
// is soft, D-UCB, see [Discounted] with a [UCB1].
//
// Pending pulls count in n and t. Until the first outcome of an arm is in the window, x̄ is the mean of all
// outcomes there.
//
// Source: A. Garivier, E. Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", ALT
// 2011, section 3 and theorem 2.
type SlidingWindow struct {
	// Window is τ, at least 1; 0 means ⌈2·sqrt(T·ln T)⌉. It panics at the first draw if it is
	// negative.
	Window int
	// T is the number of pulls of all arms in the whole run; 0 means not known: the outcomes so far. It
	// panics at the first draw if it is negative.
	T int
	// Xi is the width ξ of the confidence bound; 0 means 0.6. The source's bound needs more than 0.5.
	// It panics at the first draw if it is negative or not finite.
	Xi float64

	order []int   // the arms of the window's outcomes, oldest first, from head on
	head  int     // what is before it has left
	seen  []queue // rewards in the window, by arm
	total int     // outcomes, those that have left too
}

var _ Policy = (*SlidingWindow)(nil)

// Probs gives mass 1 to the arm with the largest bound.
func (s *SlidingWindow) Probs(p []float64, r Round) {
	xi := cmp.Or(s.Xi, 0.6)
	switch {
	case s.Window < 0:
		panicf("SlidingWindow.Window is %v: need a number of outcomes, or 0 for what T makes it", s.Window)
	case s.T < 0:
		panicf("SlidingWindow.T is %v: need a number of pulls, or 0 for not known", s.T)
	case !(xi > 0 && finite(xi)):
		panicf("SlidingWindow.Xi is %v: need a finite number, at least 0", xi)
	}
	s.seen = grown(s.seen, len(p))
	log := math.Log(max(1, min(float64(len(s.order)-s.head)+r.pending(), float64(s.window()))))
	OneHot(p, r.Open, func(arm int) float64 {
		outcomes := s.seen[arm].len()
		n := float64(outcomes + r.Pending[arm])
		switch {
		case n == 0:
			return math.Inf(1)
		case outcomes == 0:
			return s.overall() + math.Sqrt(xi*log/n)
		}
		return s.seen[arm].sum()/float64(outcomes) + math.Sqrt(xi*log/n)
	})
}

// overall returns the mean of all rewards in the window, 0 if there are none.
func (s *SlidingWindow) overall() float64 {
	var sum, n float64
	for arm := range s.seen {
		sum, n = sum+s.seen[arm].sum(), n+float64(s.seen[arm].len())
	}
	return sum / max(n, 1)
}

// window returns τ.
func (s *SlidingWindow) window() int {
	if s.Window > 0 {
		return s.Window
	}
	t := float64(max(cmp.Or(s.T, s.total), 1))
	return max(1, int(math.Ceil(2*math.Sqrt(t*math.Log(t)))))
}

// Update records one outcome, and drops those that are now older than the window.
func (s *SlidingWindow) Update(pull Pull, reward float64) {
	if !finite(reward) {
		return
	}
	s.seen = grown(s.seen, pull.Arm+1)
	s.total++
	s.seen[pull.Arm].push(reward)
	s.order = append(s.order, pull.Arm)
	for len(s.order)-s.head > s.window() {
		s.seen[s.order[s.head]].pop()
		s.head++
	}
	// Moving the rest to the front only when more than half has left costs one move an outcome on average.
	if 2*s.head > len(s.order) {
		s.order = s.order[:copy(s.order, s.order[s.head:])]
		s.head = 0
	}
}

// String names the policy and its parameters.
func (s *SlidingWindow) String() string {
	return fmt.Sprintf("SlidingWindow(window=%v, T=%v, xi=%v)", s.Window, s.T, cmp.Or(s.Xi, 0.6))
}

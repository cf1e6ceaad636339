package replay

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Step is one round of a log as an estimate needs it.
type Step struct {
	Arm        int     // the arm that was pulled
	Propensity float64 // its chance when it was, in (0, 1]
	Reward     float64 // what it brought; finite
	Target     float64 // the chance that the policy to estimate gives that arm, in [0, 1]
}

// An Estimate is a value with its standard error, and the 95 % interval that follows from it by the normal
// approximation.
type Estimate struct{ Value, StdErr, Low, High float64 }

// String returns the value and the ends of the interval, to four digits: "0.61 [0.5156, 0.7044]".
func (e Estimate) String() string { return fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Low, e.High) }

// Estimates is the result of [OffPolicy].
type Estimates struct {
	Steps  int     // how many there are
	Logged float64 // the mean reward of the log itself
	// IPS is the estimate by inverse propensity, (1/n)·Σ w·r with w = target/propensity. It has no bias
	// wherever the log could have pulled what the policy would (D. G. Horvitz, D. J. Thompson, 1952).
	IPS Estimate
	// SelfNormalized is Σ w·r / Σ w. It is a little biased, but it varies far less, and stays within the
	// range of the rewards (A. Swaminathan, T. Joachims, "The Self-Normalized Estimator for Counterfactual
	// Learning", 2015). Its standard error is by the delta method.
	SelfNormalized Estimate
	// Effective is the number of steps that the weights leave, (Σw)²/Σw², and Largest is the largest weight.
	// With an Effective of a few, no estimate is worth much.
	Effective, Largest float64
	// Share is the largest weight's share of Σw.
	Share float64
	// Weight is the mean weight: 1 in expectation if the log could have pulled all that the policy would.
	Weight Estimate
	// Blind counts the steps in which the log could pull only one arm (propensity 1), although the policy
	// might have pulled another. What that would have earned is in no log. IPS is then too low for positive
	// rewards, and SelfNormalized is about the other steps.
	Blind int
}

// OffPolicy estimates the mean reward per round that a policy would have had in the rounds of a log, from the
// chances that it gives the arms that were pulled.
//
// Each round is taken as it was, with the arms as far as the log's policy had brought them. The estimate is
// the policy's value if rewards do not depend on earlier pulls. Those of a search that rises with its pulls
// do depend on them; [Play] shows what a policy would have reached by itself. Rounds count alike, however many model
// calls each made: where pulls differ in size, a policy that is estimated higher may also spend more.
//
// It returns an error for fewer than two steps, for values out of range, or if the policy gives no chance to
// any pull in the log.
func OffPolicy(steps iter.Seq[Step]) (Estimates, error) {
	var e Estimates
	var s, weights sums
	for step := range steps {
		if err := step.validate(e.Steps); err != nil {
			return e, err
		}
		w := step.Target / step.Propensity
		s.add(w, step.Reward)
		weights.add(1, w)
		e.Steps++
		e.Logged += (step.Reward - e.Logged) / float64(e.Steps)
		e.Largest = max(e.Largest, w)
		if step.Propensity == 1 && step.Target < 1 {
			e.Blind++
		}
	}
	switch {
	case e.Steps < 2:
		return e, fmt.Errorf("replay: %d steps to estimate from: need at least 2", e.Steps)
	case s.w == 0:
		return e, fmt.Errorf("replay: the policy gives no chance to any of the %d pulls in the log", e.Steps)
	}
	e.IPS, e.SelfNormalized = s.ips(), s.selfNormalized()
	e.Effective, e.Share, e.Weight = s.w*s.w/s.ww, e.Largest/s.w, weights.ips()
	return e, nil
}

// Warning returns why the estimates are unreliable, or "" if they look sound: fewer than 30 effective steps, one step
// with more than a tenth of all weight, or a mean weight more than three standard errors below 1, where the policy
// would pull arms that the log hardly ever could.
func (e Estimates) Warning() string {
	switch {
	case e.Weight.Value < 1-3*e.Weight.StdErr-1e-9:
		return fmt.Sprintf("the mean weight is %.3g and not 1: the policy pulls arms that the log could not", e.Weight.Value)
	case e.Effective < 30:
		return fmt.Sprintf("the weights leave %.3g effective steps: need 30", e.Effective)
	case e.Share > 0.1:
		return fmt.Sprintf("one step has %.0f %% of all weight: need at most 10 %%", 100*e.Share)
	}
	return ""
}

func (s Step) validate(round int) error {
	switch {
	case !(s.Propensity > 0 && s.Propensity <= 1):
		return fmt.Errorf("replay: step %d has propensity %v: need more than 0, at most 1", round, s.Propensity)
	case !(s.Target >= 0 && s.Target <= 1+1e-9):
		return fmt.Errorf("replay: step %d has target probability %v: need 0 to 1", round, s.Target)
	case !finite(s.Reward):
		return fmt.Errorf("replay: step %d has reward %v", round, s.Reward)
	}
	return nil
}

// sums are over steps, of the weights w and the rewards r. Means and squares about them are kept as by Welford: rewards
// may be alike and far from 0, and sums of their squares would lose the digits in which they differ.
type sums struct {
	n, w, ww      float64
	products      spread // of w·r
	byW, bySquare spread // of r, each with the weight w, and w²
}

// A spread is a weighted mean and the weighted sum of squares about it.
type spread struct{ weight, mean, squares float64 }

func (s *spread) add(weight, value float64) {
	if weight == 0 {
		return
	}
	s.weight += weight
	off := value - s.mean
	s.mean += off * weight / s.weight
	s.squares += weight * off * (value - s.mean)
}

func (s *sums) add(w, r float64) {
	s.n++
	s.w += w
	s.ww += w * w
	s.products.add(1, w*r)
	s.byW.add(w, r)
	s.bySquare.add(w*w, r)
}

func (s *sums) ips() Estimate {
	return newEstimate(s.products.mean, math.Sqrt(s.products.squares/(s.n-1)/s.n))
}

// selfNormalized has the standard error √(Σ w²·(r − v)²)/Σw about the estimate v.
func (s *sums) selfNormalized() Estimate {
	v := s.byW.mean
	off := s.bySquare.mean - v
	return newEstimate(v, math.Sqrt(s.bySquare.squares+s.bySquare.weight*off*off)/s.w)
}

func newEstimate(value, stdErr float64) Estimate {
	const z = 1.959963984540054 // the 97.5 % quantile of the normal distribution
	return Estimate{value, stdErr, value - z*stdErr, value + z*stdErr}
}

// Along returns the steps of l's run for a policy that learns along the log: it is asked for its chances before each
// round and hears of every outcome of the log, as if it had been there. Those of [bandit.Shares] stay as they are. Each
// range over the steps calls fresh for a policy of its own. limit is the cap of rounds per arm that the run had, 0 for
// none; if arms were closed for another reason, Along takes them for open. It returns an error if the log has no
// bandit's run or no propensities.
func (l Log) Along(fresh func() bandit.Policy, limit int) (iter.Seq[Step], error) {
	if err := l.propensities(); err != nil {
		return nil, err
	}
	return func(yield func(Step) bool) { l.along(fresh(), limit, yield) }, nil
}

func (l Log) along(p bandit.Policy, limit int, yield func(Step) bool) {
	k := len(l.Arms)
	probs, open, pending, pulls, calls := make([]float64, k), slices.Repeat([]bool{true}, k), make([]int, k),
		make([]int, k), make([]int, k)
	for i, arm := range l.Run.Selections {
		clear(probs)
		for i, a := range l.Arms {
			calls[i] = a.calls(pulls[i])
		}
		p.Probs(probs, bandit.Round{T: i, Open: open, Pending: pending, Calls: calls,
			Rand: stream.New(l.Run.Seed, "along", uint64(i))})
		pull := bandit.Pull{ID: i, Arm: arm, Prob: l.Run.Propensities[i], Arms: k, Calls: calls[arm]}
		if !yield(Step{Arm: arm, Propensity: pull.Prob, Reward: l.Run.Rewards[i], Target: probs[arm]}) {
			return
		}
		p.Update(pull, l.Run.Rewards[i])
		pulls[arm]++
		open[arm] = limit == 0 || pulls[arm] < limit
		if !slices.Contains(open, true) {
			return
		}
	}
}

// propensities returns an error if the log cannot be estimated from.
func (l Log) propensities() error {
	switch {
	case l.Run == nil:
		return errors.New("replay: an estimate from a log without a bandit's run")
	case l.Run.Propensities == nil:
		return errors.New("replay: an estimate from a log without propensities")
	}
	return l.validate()
}

package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Decision is one round of a log, and what another policy would have done in it.
type Decision struct {
	Arm        int       // the arm that was pulled
	Propensity float64   // its chance when it was, in (0, 1]
	Reward     float64   // what it brought
	Target     []float64 // the chance that the other policy gives each arm; sums to 1
	// Model is the reward that a model expects of each arm in this round, of a simulator or of a fit to other rounds;
	// nil means 0 for all.
	Model []float64
}

// OffPolicy is what another policy would have got a round, by three estimates. Intervals are at 95 %, by the normal
// approximation. With w = target/propensity of the arm pulled, r its reward, q the model's and π the target:
type OffPolicy struct {
	Rounds int
	Logged float64 // the mean reward of the log itself
	// IPS is mean(w·r): without bias where the log could pull all that the policy would (D. G. Horvitz, D. J. Thompson,
	// "A Generalization of Sampling Without Replacement from a Finite Universe", 1952).
	IPS Interval
	// SelfNormalized is Σw·r / Σw: a little biased, and much less noisy (A. Swaminathan, T. Joachims, "The
	// Self-Normalized Estimator for Counterfactual Learning", 2015).
	SelfNormalized Interval
	// DoublyRobust is mean(Σₐ π(a)·q(a) + w·(r − q(arm))): without bias if the propensities are right or the model
	// is, and less noisy the better the model (M. Dudík, J. Langford, L. Li, "Doubly Robust Policy Evaluation and
	// Learning", 2011). The model must not have been fitted to the same rounds. Without one it is IPS.
	DoublyRobust Interval
	Overlap      Overlap
}

// An Overlap is how far a log covers what a policy would do.
type Overlap struct {
	Effective float64 // rounds that the weights leave, (Σw)²/Σw²
	Largest   float64 // the largest weight
	Share     float64 // of the largest weight in Σw
	Mean      float64 // the mean weight: 1 in expectation if the log could have pulled all that the policy would
	StdErr    float64 // of Mean
}

// Warning returns why the estimates are not to be relied on, or "" if nothing speaks against them: fewer than 30
// effective rounds, one round with more than a tenth of all weight, or a mean weight more than three standard errors
// below 1, where the policy would pull arms that the log hardly ever could.
func (o Overlap) Warning() string {
	switch {
	case o.Mean < 1-3*o.StdErr-1e-9:
		return fmt.Sprintf("the mean weight is %.3g and not 1: the policy pulls arms that the log could not", o.Mean)
	case o.Effective < 30:
		return fmt.Sprintf("the weights leave %.3g effective rounds: need 30", o.Effective)
	case o.Share > 0.1:
		return fmt.Sprintf("one round has %.0f %% of all weight: need at most 10 %%", 100*o.Share)
	}
	return ""
}

// EstimateOffPolicy estimates the reward a round that another policy would have got in the rounds of a log. Each
// round is taken as it was, so it is the policy's value if rewards do not depend on earlier pulls; those of searches
// do, and for them package evolve/replay plays policies over whole searches. It returns an error for fewer than two
// rounds, for numbers out of range, or if the policy gives no chance to any pull of the log.
func EstimateOffPolicy(rounds []Decision) (OffPolicy, error) {
	if len(rounds) < 2 {
		return OffPolicy{}, fmt.Errorf("analysis: %d rounds to estimate from: need at least 2", len(rounds))
	}
	n := len(rounds)
	w, ips, robust := make([]float64, n), make([]float64, n), make([]float64, n)
	e := OffPolicy{Rounds: n}
	for i, d := range rounds {
		if err := d.validate(i); err != nil {
			return OffPolicy{}, err
		}
		w[i] = d.Target[d.Arm] / d.Propensity
		ips[i], robust[i] = w[i]*d.Reward, d.robust(w[i])
		e.Logged += d.Reward / float64(n)
	}
	total := float64(n) * mean(w)
	if total == 0 {
		return OffPolicy{}, fmt.Errorf("analysis: the policy gives no chance to any of the %d pulls of the log", n)
	}
	e.IPS, e.DoublyRobust = normal(mean(ips), stdErr(ips)), normal(mean(robust), stdErr(robust))
	e.SelfNormalized = selfNormalized(rounds, w, total)
	e.Overlap = newOverlap(w, total)
	return e, nil
}

// robust returns the round's part of the doubly robust estimate.
func (d Decision) robust(w float64) float64 {
	if d.Model == nil {
		return w * d.Reward
	}
	expected := 0.0
	for a, p := range d.Target {
		expected += p * d.Model[a]
	}
	return expected + w*(d.Reward-d.Model[d.Arm])
}

// selfNormalized returns Σw·r/Σw, with its standard error by the delta method, √Σw²(r−v)²/Σw.
func selfNormalized(rounds []Decision, w []float64, total float64) Interval {
	v, squares := 0.0, 0.0
	for i, d := range rounds {
		v += w[i] * d.Reward / total
	}
	for i, d := range rounds {
		squares += math.Pow(w[i]*(d.Reward-v), 2)
	}
	return normal(v, math.Sqrt(squares)/total)
}

func newOverlap(w []float64, total float64) Overlap {
	o := Overlap{Mean: mean(w), StdErr: stdErr(w)}
	squares := 0.0
	for _, v := range w {
		squares += v * v
		o.Largest = max(o.Largest, v)
	}
	o.Effective, o.Share = total*total/squares, o.Largest/total
	return o
}

// normal returns the 95 % interval of a normal estimate.
func normal(value, stdErr float64) Interval {
	z := distuv.UnitNormal.Quantile(0.975)
	return Interval{value, value - z*stdErr, value + z*stdErr}
}

// stdErr returns the standard error of the mean of at least two values.
func stdErr(values []float64) float64 {
	n, middle, sum := float64(len(values)), mean(values), 0.0
	for _, v := range values {
		sum += (v - middle) * (v - middle)
	}
	return math.Sqrt(sum / (n - 1) / n)
}

func (d Decision) validate(round int) error {
	if d.Arm < 0 || d.Arm >= len(d.Target) {
		return fmt.Errorf("analysis: round %d pulls arm %d, and Target has %d", round, d.Arm, len(d.Target))
	}
	if !(d.Propensity > 0 && d.Propensity <= 1) || !finite(d.Reward) {
		return fmt.Errorf("analysis: round %d has propensity %v and reward %v: need more than 0, at most 1, and a finite number", round, d.Propensity, d.Reward)
	}
	sum := 0.0
	for a, p := range d.Target {
		if !(p >= 0) {
			return fmt.Errorf("analysis: round %d has the chance %v for arm %d in Target: need at least 0", round, p, a)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("analysis: the chances in Target of round %d sum to %v: need 1", round, sum)
	}
	if d.Model == nil {
		return nil
	}
	if len(d.Model) != len(d.Target) {
		return fmt.Errorf("analysis: round %d has a Model of %d arms and a Target of %d", round, len(d.Model), len(d.Target))
	}
	for a, q := range d.Model {
		if !finite(q) {
			return fmt.Errorf("analysis: round %d has the reward %v for arm %d in Model", round, q, a)
		}
	}
	return nil
}

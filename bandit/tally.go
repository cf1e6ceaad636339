package bandit

// A Tally keeps how often each arm was pulled and the mean of its rewards, which is what most policies need.
// The zero value is empty. It grows to the arms that it is told of.
//
// Numbers of pulls are real, not whole, so that they can be discounted. A mean stays within the range of the
// rewards and cannot overflow, however large they are.
type Tally struct {
	n, mean []float64
	total   float64 // sum of n
	overall float64 // mean over all arms
}

// Add records one outcome of arm. It ignores a reward that is not finite, as [Policy] asks of Update.
func (t *Tally) Add(arm int, reward float64) {
	if !finite(reward) {
		return
	}
	t.n, t.mean = grown(t.n, arm+1), grown(t.mean, arm+1)
	t.n[arm]++
	t.mean[arm] = toward(t.mean[arm], reward, t.n[arm])
	t.total++
	t.overall = toward(t.overall, reward, t.total)
}

// toward moves a mean by (x − mean)/n. It takes two halves, since the difference of two large numbers can
// overflow where the halves do not. A reward equal to the mean leaves it exactly as it is.
func toward(mean, x, n float64) float64 {
	half := (x/2 - mean/2) / n
	return mean + half + half
}

// Pulls returns the number of outcomes of arm, 0 for an arm never heard of.
func (t *Tally) Pulls(arm int) float64 {
	if arm >= len(t.n) {
		return 0
	}
	return t.n[arm]
}

// Mean returns the mean reward of arm, 0 if it has none.
func (t *Tally) Mean(arm int) float64 {
	if arm >= len(t.mean) {
		return 0
	}
	return t.mean[arm]
}

// Total returns the number of outcomes of all arms.
func (t *Tally) Total() float64 { return t.total }

// Overall returns the mean reward of all outcomes, 0 if there are none.
func (t *Tally) Overall() float64 { return t.overall }

// expected returns the mean reward of arm, or that of all arms while it has none.
func (t *Tally) expected(arm int) float64 {
	if t.Pulls(arm) == 0 {
		return t.overall
	}
	return t.mean[arm]
}

// Discount multiplies the weight of every outcome so far by gamma, in (0, 1]. Numbers of pulls shrink and
// means stay. The next outcome then weighs the more.
func (t *Tally) Discount(gamma float64) {
	for i := range t.n {
		t.n[i] *= gamma
	}
	t.total *= gamma
}

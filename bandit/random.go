package bandit

// Random pulls every open arm with the same chance, whatever the rewards. It is the baseline that a policy
// has to beat. Pending pulls change nothing.
type Random struct{}

var _ Forgetter = Random{}

// Probs gives each open arm 1/(number of open arms).
func (Random) Probs(p []float64, r Round) {
	share := 1 / float64(countOpen(r.Open))
	for arm, open := range r.Open {
		p[arm] = 0
		if open {
			p[arm] = share
		}
	}
}

// Update does nothing.
func (Random) Update(Pull, float64) {}

// Forget does nothing, as nothing was learned.
func (Random) Forget(float64) {}

// AnyScale reports that rewards may be on any scale.
func (Random) AnyScale() bool { return true }

// String names the policy and its parameters.
func (Random) String() string { return "Random()" }

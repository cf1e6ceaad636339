package bandit

import "fmt"

// Shares is a policy that pulls each arm with a fixed share, whatever the rewards. It is what most systems do, and the
// baseline for the others. A share of 0 means never. Of the open arms each has its part of their sum.
type Shares []float64

var _ Policy = Shares(nil)

// Probs fills p with the shares.
func (s Shares) Probs(p []float64, r Round) {
	if len(s) != len(p) {
		panicf("Shares has %d numbers for %d arms", len(s), len(p))
	}
	sum := 0.0
	for arm, share := range s {
		if r.Open[arm] {
			sum += share
		}
	}
	if sum == 0 {
		Random{}.Probs(p, r)
		return
	}
	for arm, share := range s {
		if r.Open[arm] {
			p[arm] = share / sum
		}
	}
}

// Update does nothing.
func (Shares) Update(Pull, float64) {}

// AnyScale reports that rewards may be on any scale.
func (Shares) AnyScale() bool { return true }

// String prints the shares.
func (s Shares) String() string { return fmt.Sprintf("Shares(%v)", []float64(s)) }

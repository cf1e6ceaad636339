package population

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
)

// Shares is a policy that pulls each arm with a fixed share, whatever the rewards. It is what most systems do, and the
// baseline for a bandit over operators. A share of 0 means never. Of the open arms each has its part of their sum.
type Shares []float64

var _ bandit.Policy = Shares(nil)

// Probs fills p with the shares.
func (s Shares) Probs(p []float64, r bandit.Round) {
	if len(s) != len(p) {
		panic(fmt.Sprintf("population: Shares has %d numbers for %d arms", len(s), len(p)))
	}
	sum := 0.0
	for arm, share := range s {
		if r.Open[arm] {
			sum += share
		}
	}
	if sum == 0 {
		bandit.Random{}.Probs(p, r)
		return
	}
	for arm, share := range s {
		if r.Open[arm] {
			p[arm] = share / sum
		}
	}
}

// Update does nothing.
func (Shares) Update(bandit.Pull, float64) {}

// String prints the shares.
func (s Shares) String() string { return fmt.Sprintf("Shares(%v)", []float64(s)) }

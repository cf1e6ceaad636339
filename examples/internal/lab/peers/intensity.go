package peers

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit"
)

// Intensity is AdaEvolve's policy over three operators: explore, exploit and balanced. With δ the gain of a child over
// the best score, relative to it, and at most 1, they have the shares I, 0.7·(1 − I) and 0.3·(1 − I), where
//
//	G ← 0.9·G + 0.1·δ²
//	I = 0.15 + (0.5 − 0.15)/(1 + √(G + ε))
//
// So it explores less while scores rise. δ is the reward.
//
// Source: AdaEvolve in SkyDiscover, search/adaevolve/adaptation.py.
type Intensity struct{ g float64 }

var _ bandit.Policy = (*Intensity)(nil)

// tiny is the ε of the formulas.
const tiny = 1e-8

// I returns the share of exploration.
func (a *Intensity) I() float64 {
	const least, most = 0.15, 0.5
	return least + (most-least)/(1+math.Sqrt(a.g+tiny))
}

// Probs fills p with the shares. It panics unless there are three arms.
func (a *Intensity) Probs(p []float64, r bandit.Round) {
	i := a.I()
	bandit.Shares{i, 0.7 * (1 - i), 0.3 * (1 - i)}.Probs(p, r)
}

// Update takes in a gain. One that is not finite changes nothing, and one outside [0, 1] counts as the nearest in it.
func (a *Intensity) Update(_ bandit.Pull, gain float64) {
	if math.IsNaN(gain) || math.IsInf(gain, 0) {
		return
	}
	gain = min(max(gain, 0), 1)
	a.g = 0.9*a.g + 0.1*gain*gain
}

// String names the policy and its constants.
func (a *Intensity) String() string { return fmt.Sprintf("Intensity(%v to %v)", 0.15, 0.5) }

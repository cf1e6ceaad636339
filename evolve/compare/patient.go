package compare

import (
	"cmp"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/bandit"
)

// Patient is a policy that stays with an arm as long as it is rewarded: the first arm begins, and when one has had no
// reward above 0 in a row for more than
//
//	max(Least, Share·t)
//
// pulls of it, with t the pulls of all arms so far, the next one that is open has its turn, and after the last the first
// again. The order of arms is a prior over them. It is for rewards like [Raised], of arms that hand on what they have found.
//
// It is GEPA's rotation of engines ("adaptive"), with a patience that grows with the run, as steps up grow rare in every
// search.
type Patient struct {
	Least int     // 0 means 16
	Share float64 // 0 means 1/16

	arm, since, pulls int
}

var _ bandit.Policy = (*Patient)(nil)

// Probs gives all to the arm whose turn it is, or to the next that is open.
func (b *Patient) Probs(p []float64, r bandit.Round) {
	for i := range p {
		if arm := (b.arm + i) % len(p); r.Open[arm] {
			p[arm] = 1
			return
		}
	}
}

// Update counts pulls without a reward. Those of an arm whose turn is over, which were pending, count as pulls alone.
func (b *Patient) Update(pull bandit.Pull, reward float64) {
	if math.IsNaN(reward) || math.IsInf(reward, 0) {
		return
	}
	b.pulls++
	switch {
	case pull.Arm != b.arm:
		return
	case reward > 0:
		b.since = 0
		return
	}
	b.since++
	if b.since > max(cmp.Or(b.Least, 16), int(cmp.Or(b.Share, 0.0625)*float64(b.pulls))) {
		b.arm, b.since = (b.arm+1)%pull.Arms, 0
	}
}

// String names the policy.
func (b *Patient) String() string {
	return fmt.Sprintf("Patient(%d, %g)", cmp.Or(b.Least, 16), cmp.Or(b.Share, 0.0625))
}

package ensemble

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
)

// blind is a policy that sees outcomes but no pending pulls: Round.T counts outcomes, and Pending is all zero.
type blind struct {
	bandit.Policy
	none    []int
	learned int
}

func (b *blind) Probs(p []float64, r bandit.Round) {
	r.T, r.Pending = b.learned, b.none
	b.Policy.Probs(p, r)
}

func (b *blind) Update(pull bandit.Pull, reward float64) {
	b.learned++
	b.Policy.Update(pull, reward)
}

func (b *blind) String() string { return fmt.Sprint(b.Policy) }

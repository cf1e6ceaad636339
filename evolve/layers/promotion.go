package layers

import (
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/eval"
)

// A Promotion says when a combination is the answer and not the best base. Its zero value accepts one that is valid and
// scores more.
type Promotion struct {
	// Margin is how much more it has to score, such as what a noisy evaluator's scores differ by; 0 means any more.
	Margin float64
	// Always accepts every valid combination, also one that scores less.
	Always bool
}

func (p Promotion) validate() error {
	if !(p.Margin >= 0) || math.IsInf(p.Margin, 0) {
		return fmt.Errorf("layers: Promotion.Margin is %v: need a difference of scores, 0 or more", p.Margin)
	}
	return nil
}

// Accepts reports whether a combination takes the place of the best base.
func (p Promotion) Accepts(base, combination eval.Candidate) bool {
	if !combination.Result.Valid || p.Always {
		return combination.Result.Valid
	}
	return combination.Better(base) && (!base.Result.Valid || combination.Result.Score > base.Result.Score+p.Margin)
}

// String says the rule.
func (p Promotion) String() string {
	if p.Always {
		return "always"
	}
	return fmt.Sprintf("if better by %v", p.Margin)
}

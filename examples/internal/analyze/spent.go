package analyze

import (
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
)

// spent is what a run spent by round, beside its calls, and which arms a bandit pulled. Lists begin with the first
// round, and are empty where the file does not say.
type spent struct {
	flops, seconds []float64
	tokens         []history.Tokens
	pulls          []int       // by round, the arm; empty for one search
	arms           [][]float64 // by arm, its best score after 0, 1, ... pulls
	armSeeds       []uint32
	unknown        error // why all lists are empty
}

// readSpent returns what the run of a result spent.
func readSpent(f *result.Bandit) (s spent) {
	run, err := f.History()
	if err != nil {
		return spent{unknown: err}
	}
	for _, r := range run.Rounds {
		s.flops, s.seconds, s.tokens = append(s.flops, r.Cost.FLOPs), append(s.seconds, r.Seconds),
			append(s.tokens, r.Cost.Tokens)
	}
	if len(s.flops) > 0 { // as the first round's calls have those before it, see answered
		s.flops[0] += run.Outside.FLOPs
		s.tokens[0] = s.tokens[0].Plus(run.Outside.Tokens)
	}
	if f.Alone {
		return s
	}
	for _, arm := range run.Arms {
		s.arms = append(s.arms, []float64{arm.Start.Value})
		if arm.Seed != nil {
			s.armSeeds = append(s.armSeeds, *arm.Seed)
		}
	}
	for _, r := range run.Rounds {
		s.pulls = append(s.pulls, r.Arm)
		best := s.arms[r.Arm]
		s.arms[r.Arm] = append(best, max(best[len(best)-1], r.Score))
	}
	return s
}

// dollars returns the price of each round at a price for a million tokens of each kind.
func (s spent) dollars(prompt, answer float64) []float64 {
	list := make([]float64, len(s.tokens))
	for i, t := range s.tokens {
		list[i] = (float64(t.Prompt)*prompt + float64(t.Completion)*answer) / 1e6
	}
	return list
}

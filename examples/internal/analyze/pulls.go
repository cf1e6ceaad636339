package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An allocation is how a bandit spent its pulls.
type allocation struct {
	// regret is by round, after 1, 2, ... pulls: what the best single arm would have had with all the pulls so far,
	// less what the run has,
	//
	//	max over arms of best(arm, t) − max over arms of best(arm, its pulls so far)
	//
	// in units of the score, and below 0 if several arms together did better than any one alone. An arm is assumed to stay
	// where its log ends, so regret is a lower bound.
	regret []float64
	// ranked are the arms by the last score in their logs, best first; ties keep their order.
	ranked []int
	// share is the share of pulls by rank: share[0] is that of ranked[0].
	share []float64
	// effective is the effective number of arms, 1/Σ share² (M. O. Hill, "Diversity and Evenness", Ecology 54, 1973).
	effective float64
}

// allocate computes the allocation of a run's pulls. arms[k] is the best score of arm k after 0, 1, ... of its own pulls,
// perhaps of more than it got. allocate returns an error if there are no arms or pulls, an arm is missing or was pulled
// more often than its log is long, or scores are not finite or fall.
func allocate(pulls []int, arms [][]float64) (allocation, error) {
	if err := validateArms(pulls, arms); err != nil {
		return allocation{}, err
	}
	a := allocation{regret: make([]float64, len(pulls))}
	counts := make([]int, len(arms))
	has := slices.Max(starts(arms))
	for t, arm := range pulls {
		counts[arm]++
		has = max(has, arms[arm][counts[arm]])
		alone := arms[0][min(t+1, len(arms[0])-1)]
		for _, best := range arms[1:] {
			alone = max(alone, best[min(t+1, len(best)-1)])
		}
		a.regret[t] = alone - has
	}
	a.rank(counts, arms, len(pulls))
	return a, nil
}

// rank fills in ranked, share and effective.
func (a *allocation) rank(counts []int, arms [][]float64, pulls int) {
	end := func(k int) float64 { return arms[k][len(arms[k])-1] }
	for k := range arms {
		a.ranked = append(a.ranked, k)
	}
	slices.SortStableFunc(a.ranked, func(i, j int) int { return cmp.Compare(end(j), end(i)) })
	squares := 0.0
	for _, k := range a.ranked {
		share := float64(counts[k]) / float64(pulls)
		a.share = append(a.share, share)
		squares += share * share
	}
	a.effective = 1 / squares
}

// starts returns the arms' scores before any pull.
func starts(arms [][]float64) []float64 {
	first := make([]float64, len(arms))
	for k, best := range arms {
		first[k] = best[0]
	}
	return first
}

func validateArms(pulls []int, arms [][]float64) error {
	if len(pulls) == 0 || len(arms) == 0 {
		return fmt.Errorf("an allocation of %d pulls over %d arms: need at least one of both", len(pulls), len(arms))
	}
	for k, best := range arms {
		if len(best) == 0 {
			return fmt.Errorf("arm %d has no score to start from", k)
		}
		for t, v := range best {
			if math.IsNaN(v) || math.IsInf(v, 0) || t > 0 && v < best[t-1] {
				return fmt.Errorf("arm %d has a best score of %v after %d pulls: need finite numbers that do not fall", k, v, t)
			}
		}
	}
	counts := make([]int, len(arms))
	for t, arm := range pulls {
		if arm < 0 || arm >= len(arms) {
			return fmt.Errorf("round %d pulls arm %d of %d", t, arm, len(arms))
		}
		if counts[arm]++; counts[arm] >= len(arms[arm]) {
			return fmt.Errorf("round %d is pull %d of arm %d, which is known for %d", t, counts[arm], arm, len(arms[arm])-1)
		}
	}
	return nil
}

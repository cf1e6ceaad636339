package ensemble

import (
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/llm"
)

// Learn gives the policy the reward of a reply, once for each of its draws. If the ensemble was asked again after a
// failure ([llm.Retry] around it), each earlier draw has its part of Attempts and no program. Each part begins at an
// attempt with a propensity.
//
// A draw of an earlier incarnation, which is not pending here, counts as a draw made now with its old propensity. A
// reward that is not finite does not count.
func (e *Ensemble) Learn(o llm.Outcome) {
	parts := split(o.Attempts)
	for i, part := range parts {
		of := llm.Outcome{Attempts: part, Parent: o.Parent}
		if i == len(parts)-1 {
			of.Valid, of.Score = o.Valid, o.Score
		}
		e.learn(of)
	}
}

// split cuts attempts before each that has a propensity, and leaves out those before the first, which belong to no
// draw.
func split(attempts []llm.Attempt) (parts [][]llm.Attempt) {
	end := len(attempts)
	for i := len(attempts) - 1; i >= 0; i-- {
		if attempts[i].Propensity > 0 {
			parts = append(parts, attempts[i:end:end])
			end = i
		}
	}
	slices.Reverse(parts)
	return parts
}

// learn reports the outcome of one draw to the policy.
func (e *Ensemble) learn(o llm.Outcome) {
	first := o.Attempts[0]
	arm := slices.IndexFunc(e.cfg.Members, func(m Member) bool { return m.Model.Key == first.Model })
	reward, counts := e.cfg.Reward(o)
	counts = counts && !math.IsNaN(reward) && !math.IsInf(reward, 0)
	e.mu.Lock()
	defer e.mu.Unlock()
	if arm < 0 {
		e.unknown++
		return
	}
	id, err := e.take(draw{arm, first.Propensity})
	switch {
	case err != nil: // not a propensity
		e.unknown++
	case !counts:
		e.player.Cancel(id)
		e.stats[arm].Skipped++
	default:
		e.player.Report(id, reward)
		e.stats[arm].learn(o, reward)
	}
}

// take returns the number of a pending pull that d describes, or adopts one.
func (e *Ensemble) take(d draw) (int, error) {
	if ids := e.inFlight[d]; len(ids) > 0 {
		if e.inFlight[d] = ids[1:]; len(ids) == 1 {
			delete(e.inFlight, d)
		}
		return ids[0], nil
	}
	pull, err := e.player.Adopt(d.arm, d.prob)
	return pull.ID, err
}

// keep keeps a pull that has attempts until its outcome is known.
func (e *Ensemble) keep(pull bandit.Pull, attempts []llm.Attempt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := draw{pull.Arm, pull.Prob}
	e.inFlight[d] = append(e.inFlight[d], pull.ID)
	e.stats[pull.Arm].count(attempts)
}

func (e *Ensemble) cancel(pull bandit.Pull) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.player.Cancel(pull.ID)
}

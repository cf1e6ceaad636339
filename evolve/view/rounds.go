package view

import (
	"slices"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// rounds are the columns of the pulls.
type rounds struct {
	roundColumns
	open int // the first that is not over: all before it stay as they are
}

// draw adds a pull and returns its row.
func (r *rounds) draw(arm int, rec journal.Record, now int64) int {
	r.Arm = append(r.Arm, arm)
	r.Prob = append(r.Prob, rec.Prob)
	r.Calls = append(r.Calls, rec.Calls)
	r.Reward = append(r.Reward, 0)
	r.Over = append(r.Over, false)
	r.Best = append(r.Best, 0)
	r.Begin = append(r.Begin, now)
	r.End = append(r.End, 0)
	return len(r.Arm) - 1
}

// report notes how a pull ended.
func (r *rounds) report(row int, reward, best float64, now int64) {
	r.Reward[row], r.Over[row], r.Best[row], r.End[row] = reward, true, best, now
	for r.open < len(r.Over) && r.Over[r.open] {
		r.open++
	}
}

// settled returns the row from which on rounds may change.
func (r *rounds) settled() int { return r.open }

// from returns where the rows begin that a page is sent which has all before row.
func (r *rounds) from(row int) int { return min(max(row, 0), len(r.Arm)) }

// since returns the rows from one on. They are copied, because a round changes when it ends.
func (r *rounds) since(row int) roundColumns {
	return roundColumns{
		Arm: slices.Clone(r.Arm[row:]), Prob: slices.Clone(r.Prob[row:]), Calls: slices.Clone(r.Calls[row:]),
		Reward: slices.Clone(r.Reward[row:]), Over: slices.Clone(r.Over[row:]), Best: slices.Clone(r.Best[row:]),
		Begin: slices.Clone(r.Begin[row:]), End: slices.Clone(r.End[row:]),
	}
}

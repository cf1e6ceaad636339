package population

import (
	"fmt"

	"github.com/evoalloc/evoalloc/task"
)

// Hinted is credit with a soft penalty for children in whose text hints finds more to say against than in their
// parent's:
//
//	reward · (1 − weight · max(0, P(child) − P(parent)))
//
// where P is [task.Penalty], in [0, 1]. So rewards that credit has in [0, 1] stay there, and a child with fewer hints than
// its parent gains nothing by that. The score of the child is as it was: what is lowered is what its operator is worth. A
// program whose hints fail has a P of 0. nil for credit means [Improved]. It panics if hints is nil or weight is not in
// [0, 1].
func Hinted(credit Credit, hints task.Hints, weight float64) Credit {
	if !(weight >= 0 && weight <= 1) {
		panic(fmt.Sprintf("population: Hinted with a weight of %v: need one from 0 to 1", weight))
	}
	if credit == nil {
		credit = Improved
	}
	hints = task.Remembered(hints)
	penalty := func(program string) float64 {
		if found, err := hints.Hints(program); err == nil {
			return task.Penalty(found)
		}
		return 0
	}
	return func(b Birth) (reward float64, ok bool) {
		reward, ok = credit(b)
		if !ok || reward == 0 || b.Program == "" || b.Parent == nil { // nothing to lower: the texts need not be read
			return reward, ok
		}
		return reward * (1 - weight*max(0, penalty(b.Program)-penalty(b.Parent.Program))), ok
	}
}

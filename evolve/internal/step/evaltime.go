package step

import (
	"math"
	"time"
)

// An EvalTime says for how many more children the time for evaluations has room.
type EvalTime struct {
	Left   time.Duration // of the limit
	Worst  time.Duration // the most that one evaluation may take
	Sum    time.Duration // that evaluations of children took so far
	Scored int           // these children
}

// Room returns the number, beside the children that pending pulls were granted. It is 0 if less than Worst is
// left, and else 1 + (left − Worst)/e, with e = (Sum + Worst)/(Scored + 1) for the evaluation of one child. So a
// run begins with few, and is not held back by the worst case for long.
func (t EvalTime) Room(pending []int) int {
	left, each := t.Left, max(1, (t.Sum+t.Worst)/time.Duration(t.Scored+1))
	for _, children := range pending {
		if left < t.Worst {
			break // before the sum passes the least duration
		}
		left -= time.Duration(min(float64(children)*float64(each), math.MaxInt64/4))
	}
	if left < t.Worst {
		return 0
	}
	return 1 + int((left-t.Worst)/each)
}

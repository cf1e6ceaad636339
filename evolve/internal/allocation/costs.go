package allocation

import (
	"math"

	"github.com/evoalloc/evoalloc/evolve/books"
)

const (
	// unlike is how many times the least cost of a call another one must be before a policy is told: less may be
	// chance, such as programs that grow, and would make policies decide otherwise for nothing.
	unlike = 2
	// prior is how many calls of the mean cost an arm is taken to have made beside its own before it counts as unlike.
	prior = 4
	// few is how many calls the pull of an arm that was never pulled makes at most for each that it is granted.
	few = 8
	// least is the least cost of a call, in means of all: a call may be free, and no policy must be told of an
	// endless price.
	least = 1e-4
)

// A Learner holds what the pulls of each arm cost. It is not safe for concurrent use.
type Learner struct {
	arms  []spent
	spent books.Amounts // of all pulls, also those that taught nothing
}

// A spent is what so many calls came to.
type spent struct {
	calls int
	came  books.Amounts
}

// NewLearner returns a Learner for so many arms.
func NewLearner(arms int) *Learner { return &Learner{arms: make([]spent, arms)} }

// Add records that a pull of arm was granted this many calls and spent came. whole reports whether the pull ended by
// itself. A pull that was cut short, or that brought no answer, counts in the sum of all pulls alone.
func (l *Learner) Add(arm, calls int, came books.Amounts, whole bool) {
	l.spent = l.spent.Plus(came)
	if whole && came.Calls > 0 {
		l.arms[arm].calls += max(calls, 1)
		l.arms[arm].came = l.arms[arm].came.Plus(came)
	}
}

// Spent returns what all pulls came to.
func (l *Learner) Spent() books.Amounts { return l.spent }

// Costs returns what a call of each arm is expected to cost in a unit, as a multiple of the least, or nil if all are
// alike. With c = x/n of an arm whose n granted calls came to x, and m the mean of ln c over the arms that have pulls,
//
//	ĉ = exp((n·ln c + 4·m)/(n + 4))
//
// is its cost as far as it is sure. For an arm without pulls it is exp m, but at most what eight calls came to on
// average: where steps so far were sessions of many calls, another arm need not be so. Arms are alike if their ĉ is
// below twice the least. Their mean call is the unit, and costs 1. A call of another arm costs c in it, and of one
// without pulls ĉ.
func (l *Learner) Costs(unit func(books.Amounts) float64) []float64 {
	var sum, granted, made float64
	for _, a := range l.arms {
		sum, granted, made = sum+unit(a.came), granted+float64(a.calls), made+float64(a.came.Calls)
	}
	if !(sum > 0) {
		return nil
	}
	each, sure, lowest := make([]float64, len(l.arms)), make([]float64, len(l.arms)), math.Inf(1)
	mean, pulled := 0.0, 0.0
	for i, a := range l.arms {
		if a.calls > 0 {
			each[i] = max(unit(a.came)/float64(a.calls), least*sum/granted)
			mean, pulled = mean+math.Log(each[i]), pulled+1
		}
	}
	mean /= pulled
	for i, a := range l.arms {
		n := float64(a.calls)
		if n == 0 {
			each[i] = min(math.Exp(mean), few*(sum/made))
			sure[i] = math.Log(each[i])
		} else {
			sure[i] = (n*math.Log(each[i]) + prior*mean) / (n + prior)
		}
		lowest = min(lowest, sure[i])
	}
	return l.relative(each, func(arm int) bool { return sure[arm] < lowest+math.Log(unlike) })
}

// relative returns costs in calls of the arms that are alike, and nil if all are.
func (l *Learner) relative(each []float64, alike func(arm int) bool) []float64 {
	var sum, calls float64
	all := true
	for i, c := range each {
		if !alike(i) {
			all = false
			continue
		}
		n := max(float64(l.arms[i].calls), least) // such an arm may be one without pulls
		sum, calls = sum+n*c, calls+n
	}
	if all {
		return nil
	}
	for i := range each {
		if alike(i) {
			each[i] = 1
		} else {
			each[i] = max(1, each[i]/(sum/calls))
		}
	}
	return each
}

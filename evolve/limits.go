package evolve

import (
	"fmt"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve/internal/ledger"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A Limit is what a reader of a run knows of one of the limits of a [Budget].
type Limit struct {
	Name   string // the field of Budget
	Counts string // the heading of its amount on a page; "" for a limit whose amount is not shown
	Unit   string // of the amount; "" for money, which has what unit the prices have
	Ended  string // what is said of a run that it ended; "" where it ends none, or another reason is given

	amount func(journal.Amounts) float64 // nil where a journal has none
}

// Amount returns what a has of what the limit counts, of a time the seconds. It is 0 for limits of which a journal sums
// nothing: Rounds, RoundsPerArm, WallTime, Patience and Target.
func (l Limit) Amount(a journal.Amounts) float64 {
	if l.amount == nil {
		return 0
	}
	return l.amount(a)
}

// Limits returns the limits of a [Budget]. Of those that what is spent would pass at once, a run names the first.
func Limits() []Limit {
	list := make([]Limit, len(limits))
	for i, l := range limits {
		list[i] = l.Limit
	}
	return list
}

// A limit is a row of the table of limits. What checks, prints, keeps and compares budgets goes through it, so a new limit
// is a row, its field of [Budget], the place where it is set aside, and for what is summed its field of [journal.Amounts],
// in ledger.Amounts and Budget.shown.
type limit struct {
	Limit
	value   func(Budget) float64              // as it is given: 0 where there is none
	printed func(Budget) string               // as it is in force, in a fingerprint; "" leaves it out
	passed  func(Budget, ledger.Amounts) bool // whether the amounts pass it; nil where no amount is set aside for it

	// ends says that a run with this limit alone ends.
	ends bool
	// raisable limits end a run from without and decide nothing before they do. A run that one of them ended goes on with
	// a larger one as if it had only paused. The others decide how many children the last generations have, or what is
	// searched.
	raisable bool
	// whole limits are kept call by call or by the clock, which an Allocator inside a run does not see. So only a whole
	// run can keep them.
	whole bool
}

// limits are in the order in which they are looked at.
var limits = []limit{
	summed(limit{Limit: Limit{Name: "Calls", Counts: "Calls", Unit: "calls", Ended: "the budget of answered calls was used up"}, ends: true},
		func(b Budget) int { return b.Calls }, func(a ledger.Amounts) int { return a.Calls }),
	summed(limit{Limit: Limit{Name: "Evaluations", Counts: "Evaluations", Unit: "evaluations", Ended: "the budget of evaluations was used up"}, ends: true},
		func(b Budget) int { return b.Evaluations }, func(a ledger.Amounts) int { return a.Evaluations }),
	summed(limit{Limit: Limit{Name: "Tokens", Counts: "Tokens", Unit: "tokens", Ended: "the budget of tokens was used up"}, ends: true, raisable: true, whole: true},
		func(b Budget) int64 { return b.Tokens }, func(a ledger.Amounts) int64 { return a.Tokens }),
	summed(limit{Limit: Limit{Name: "FLOPs", Counts: "FLOPs", Unit: "FLOPs", Ended: "the budget of FLOPs was used up"}, ends: true, raisable: true, whole: true},
		func(b Budget) float64 { return b.FLOPs }, func(a ledger.Amounts) float64 { return a.FLOPs }),
	summed(limit{Limit: Limit{Name: "Money", Counts: "Money", Ended: "the budget of money was used up"}, ends: true, raisable: true, whole: true},
		func(b Budget) float64 { return b.Money }, func(a ledger.Amounts) float64 { return a.Money }),
	summed(limit{Limit: Limit{Name: "EvalTime", Counts: "Evaluators' time", Unit: "s", Ended: "the time for evaluations was used up"}, ends: true, raisable: true, whole: true},
		func(b Budget) time.Duration { return b.EvalTime }, func(a ledger.Amounts) time.Duration { return a.EvalTime }),
	tuneEvaluations(),
	plain(limit{Limit: Limit{Name: "WallTime", Counts: "Time", Unit: "s", Ended: "the time was over"}, ends: true, raisable: true, whole: true},
		func(b Budget) time.Duration { return b.WallTime }),
	stalls(),
	plain(limit{Limit: Limit{Name: "Rounds", Counts: "Rounds", Unit: "rounds", Ended: "the rounds of the budget were used up"}, ends: true},
		func(b Budget) int { return b.Rounds }),
	plain(limit{Limit: Limit{Name: "RoundsPerArm"}, ends: true},
		func(b Budget) int { return b.RoundsPerArm }),
	plain(limit{Limit: Limit{Name: "Patience", Ended: "it found nothing better for as long as its patience lasts"}, ends: true},
		func(b Budget) int { return b.Patience }),
	target(),
}

// number is what limits and amounts are counted in.
type number interface {
	int | int64 | float64 | time.Duration
}

// plain completes a row whose limit is held against no amount that is set aside.
func plain[T number](l limit, of func(Budget) T) limit {
	l.value = func(b Budget) float64 { return inSeconds(of(b)) }
	l.printed = func(b Budget) string { return orNone(of(b)) }
	return l
}

// summed completes a row whose amounts are set aside before they are spent. 0 means no limit.
func summed[T number](l limit, of func(Budget) T, amount func(ledger.Amounts) T) limit {
	l = plain(l, of)
	l.passed = func(b Budget, a ledger.Amounts) bool {
		most, sum := of(b), amount(a)
		if _, fraction := any(most).(float64); fraction {
			return most > 0 && float64(sum) > float64(most)*(1+slack)
		}
		return most > 0 && sum > most
	}
	l.amount = func(a journal.Amounts) float64 { return inSeconds(amount(ledger.Amounts(a))) }
	return l
}

// tuneEvaluations is a limit of which 0 means none at all. Journals of runs that tune nothing do not name it.
func tuneEvaluations() limit {
	l := summed(limit{Limit: Limit{Name: "TuneEvaluations", Counts: "Tune evaluations", Unit: "evaluations"}, whole: true},
		func(b Budget) int { return b.TuneEvaluations }, func(a ledger.Amounts) int { return a.TuneEvaluations })
	l.passed = func(b Budget, a ledger.Amounts) bool { return a.TuneEvaluations > max(b.TuneEvaluations, 0) }
	l.printed = func(b Budget) string {
		if b.TuneEvaluations == 0 {
			return ""
		}
		return fmt.Sprint(b.TuneEvaluations)
	}
	return l
}

// stalls is a limit that has a default, of which negative means none, and for which nothing is set aside. It does not end
// a run: one without a stall would go on for ever.
func stalls() limit {
	l := limit{
		Limit: Limit{Name: "Stalls", Counts: "Stalls", Unit: "attempts", Ended: "more attempts stalled than the budget allows"},
		value: func(b Budget) float64 { return float64(max(b.Stalls, 0)) },
		printed: func(b Budget) string {
			if most, limited := b.stalls(); limited {
				return fmt.Sprint(most)
			}
			return noLimit
		},
		raisable: true,
	}
	l.amount = func(a journal.Amounts) float64 { return float64(a.Stalls) }
	return l
}

// target is a limit that may be any number.
func target() limit {
	return limit{
		Limit: Limit{Name: "Target"},
		value: func(Budget) float64 { return 0 },
		printed: func(b Budget) string {
			if b.Target == nil {
				return noLimit
			}
			return fmt.Sprint(*b.Target)
		},
	}
}

// limitNamed returns the row of a name, or one of which nothing holds.
func limitNamed(name string) limit {
	if i := slices.IndexFunc(limits, func(l limit) bool { return l.Name == name }); i >= 0 {
		return limits[i]
	}
	return limit{}
}

// slack is the rounding error allowed to sums of floating-point numbers, relative to their limit. The sum depends
// on the order in which calls end. Without slack a budget for exactly n calls might have room for n - 1.
const slack = 1e-12

// inSeconds returns v as a number, of a time the seconds.
func inSeconds[T number](v T) float64 {
	if d, ok := any(v).(time.Duration); ok {
		return d.Seconds()
	}
	return float64(v)
}

// noLimit stands in a fingerprint for a limit that is not set.
const noLimit = "none"

// orNone prints a limit for which 0 means that there is none.
func orNone[T number](limit T) string {
	if limit == 0 {
		return noLimit
	}
	return fmt.Sprint(limit)
}

package evolve

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// Numbers that stand where a configuration has 0, and the largest ones.
const (
	// DefaultN is the number of children in a generation where none is given, as in the BaSE paper.
	DefaultN = 64
	// DefaultStalls is the least number of stalled attempts that a budget of calls allows if its Stalls is 0.
	DefaultStalls = 10
	// MaxN is the most children in a generation, and the most arms that [GreedyArms] makes. A larger number is a slip.
	MaxN = 100_000
)

// A Budget limits a run. Any limits hold together. At least one must be set.
//
// What a limit counts is set aside before it is spent, and settled with what was spent. So no limit but Stalls
// is passed, however much is in flight. A call's share is set aside when the call has left every queue, and an
// evaluation's when it begins, so what only waits holds nothing back.
//
// Tokens, FLOPs and Money are held against the cap on new tokens that a request carries. An endpoint that gives more
// makes the run pass them by the excess. The results of package report name such an endpoint.
//
// Calls that earlier incarnations of the run abandoned count. What calls cost that were lost when a process was killed
// is not known, and does not (see [Result.Earlier]).
//
// A run with a journal that Calls, Stalls, Tokens, FLOPs, Money, EvalTime or WallTime ended can go on: give [Run] the
// same configuration with that one limit larger. A last generation that was made with fewer children stays so. The other
// limits decide what is searched, or its scores, so a run that they ended is over.
type Budget struct {
	// Calls is the number of model calls that bring an answer, T·N in the paper: one per child, however many
	// attempts it took, and one for each call beside the children ([Generation.Asides]). Calls that end
	// without an answer (timed out, failed) do not count. A generation that does not fit whole is made with
	// as many children as there is room for, with the calls that evaluators and gates are expected to make for each: as
	// many as for a program so far, rounded up. A run ends when no such child fits, and then a few calls may be left.
	// 0 means no limit.
	Calls int
	// Evaluations is the number of evaluations made. A program that is scored from memory takes none. No more children
	// are asked for than can be evaluated. 0 means no limit.
	Evaluations int
	// TuneEvaluations is the number of evaluations that [Turn.Tune] makes to choose the numbers of a program. They are
	// apart from all that the other limits count but WallTime. 0 means none. A run that has used them up goes on.
	TuneEvaluations int
	// Stalls is the number of attempts that may time out or stall. They are paid for, and are not in Calls. Nothing is
	// set aside for them: after the first one beyond the limit no attempt is sent, and those in flight may stall too.
	// 0 means a tenth of Calls, at least DefaultStalls, or no limit where Calls has none; negative means no limit.
	Stalls int
	// Rounds is the number of pulls, however many calls each makes; 0 means no limit.
	Rounds int
	// RoundsPerArm closes an arm to the policy after so many pulls; 0 means never. With a [Breadth] a pull may be one
	// child, so the cap has to be larger than for pulls of N.
	RoundsPerArm int

	// Tokens limits prompt and completion tokens together, FLOPs the operations as package flops
	// counts them in the worst case, Money what the tokens cost at the models' prices. All three
	// count every attempt, and an answer without usage as the most it can have cost. 0 means no
	// limit; a limit needs Models.
	Tokens int64
	FLOPs  float64
	Money  float64
	// Models are the models that may be asked, by which the journal and observers know what was spent too. The most that a
	// call may cost is a token for each byte of the prompt, and the cap on new tokens, at the model that it asks. One that
	// is missing here is charged as the first. Where it is not known ([llm.Trace].Send), it is the dearest.
	Models []llm.Model

	// EvalTime limits the sum of the time that evaluations take, without the time in which they wait for a
	// slot of an [eval.Limit]; 0 means no limit. EvalWorst is needed with EvalTime, as it is what each
	// evaluation sets aside. An evaluation that takes longer is cut off, and its program is invalid.
	//
	// A step is granted no more children than can probably be evaluated: 1 + (left − EvalWorst)/e, with
	// e = (sum + EvalWorst)/(n + 1) for n children so far whose evaluations took a sum. The run ends when less
	// than EvalWorst is left.
	EvalTime, EvalWorst time.Duration
	// WallTime limits the time of the run over all its incarnations. What is under way then is abandoned. 0 means no limit.
	WallTime time.Duration

	// Target stops the run when a valid candidate scores this much or more; nil means none. It is a pointer
	// because 0 is a score that a search of negative losses looks for.
	Target *float64
	// Patience stops the run after this many pulls in a row without a better best; 0 means never. A better best
	// from a pull that was in flight when it was reached does not undo it. With a [Breadth] a pull may be one child,
	// so the same patience ends a run after far fewer calls than with pulls of N.
	Patience int
}

// wallTime is the field of the Budget that limits the time of a run.
const wallTime = "WallTime"

// stalls returns how many attempts may stall, and whether there is a limit.
func (b Budget) stalls() (most int, limited bool) {
	switch {
	case b.Stalls < 0:
		return 0, false
	case b.Stalls > 0:
		return b.Stalls, true
	}
	return max(b.Calls/10, DefaultStalls), b.Calls > 0
}

func (b Budget) validate() error {
	for _, l := range limits {
		if err := checkLimit(l.Name, l.value(b)); err != nil {
			return err
		}
	}
	if err := checkLimit("EvalWorst", b.EvalWorst.Seconds()); err != nil {
		return err
	}
	if !b.limited() {
		return errNoLimit
	}
	return b.validateModels()
}

func checkLimit(name string, value float64) error {
	if !(value >= 0) || math.IsInf(value, 0) {
		return fmt.Errorf("evolve: Budget.%s is %v: need 0 for no limit, or more", name, value)
	}
	return nil
}

// limited reports whether a limit makes the run end.
func (b Budget) limited() bool {
	return b.Target != nil || slices.ContainsFunc(limits, func(l limit) bool { return l.ends && l.value(b) > 0 })
}

// fingerprint returns each limit by its field's name, as it is in force and not as it was given.
func (b Budget) fingerprint() journal.Fingerprint {
	f := journal.Fingerprint{"Budget.EvalWorst": orNone(b.EvalWorst)}
	for _, l := range limits {
		if text := l.printed(b); text != "" {
			f["Budget."+l.Name] = text
		}
	}
	return f
}

// validateModels checks that the most a call may cost can be computed. If it could not, a limit on cost would set
// nothing aside and hold nothing.
func (b Budget) validateModels() error {
	switch {
	case (b.Tokens > 0 || b.FLOPs > 0 || b.Money > 0) && len(b.Models) == 0:
		return errors.New("evolve: Budget limits tokens, FLOPs or money but Models is empty: " +
			"what a call may cost is not known")
	case b.EvalTime > 0 && b.EvalWorst == 0:
		return errors.New("evolve: Budget.EvalTime needs EvalWorst: what one evaluation may take is not known")
	}
	for _, m := range b.Models {
		switch {
		case b.Money > 0 && m.Price == nil:
			return fmt.Errorf("evolve: Budget.Money needs the price of model %q", m.Key)
		case b.FLOPs > 0 && m.ActiveParams <= 0:
			return fmt.Errorf("evolve: Budget.FLOPs needs the active parameters of model %q", m.Key)
		}
	}
	return nil
}

var errNoLimit = errors.New("evolve: Budget has no limit: set Calls, Rounds or another")

// coreLimits returns the limits that depend on outcomes alone, which the core keeps. The ledger keeps the others.
func (b Budget) coreLimits() allocation.Limits {
	l := allocation.Limits{Calls: b.Calls, Evaluations: b.Evaluations, Stalls: -1, Rounds: b.Rounds,
		RoundsPerArm: b.RoundsPerArm, Patience: b.Patience, Target: b.Target}
	if most, limited := b.stalls(); limited {
		l.Stalls = most
	}
	return l
}

// newLedger returns the ledger of a run, which keeps so much of the limits for what comes when the run is over.
func newLedger(b Budget, kept step.Amounts) *step.Ledger {
	most, limited := b.stalls()
	if !limited {
		most = -1
	}
	return step.NewLedger(step.Limits{Passed: b.passed, Stalls: most, Shown: b.shown(), Prices: b.Models}, kept)
}

// Fits returns an error unless the limits have room for this request, in the worst case at the cheapest of Models.
func (b Budget) Fits(req llm.Request) error {
	least := step.Prices(b.Models).Least(step.SizeOf(req))
	if l := limitNamed(b.passed(least)); l.Name != "" {
		return fmt.Errorf("evolve: Budget.%s is %v: one call may cost %.6g", l.Name, l.value(b), l.Amount(least))
	}
	return nil
}

// passed returns the first limit of the table that the amounts would pass, or "".
func (b Budget) passed(a step.Amounts) string {
	for i := range limits {
		if row := &limits[i]; row.passed != nil && row.passed(b, a) {
			return row.Name
		}
	}
	return ""
}

// shown returns the limits of what is summed, for readers of the journal and observers.
func (b Budget) shown() books.Amounts {
	stalls, _ := b.stalls()
	return books.Amounts{Calls: b.Calls, Evaluations: b.Evaluations, Stalls: stalls, Tokens: b.Tokens,
		FLOPs: b.FLOPs, Money: b.Money, EvalTime: b.EvalTime, TuneEvaluations: b.TuneEvaluations}
}

// A Limit is what a reader of a run knows of one of the limits of a [Budget].
type Limit struct {
	Name   string // the field of Budget
	Counts string // the heading of its amount on a page; "" for a limit whose amount is not shown
	Unit   string // of the amount; "" for money, which has what unit the prices have
	Ended  string // what is said of a run that it ended; "" where it ends none, or another reason is given

	amount func(books.Amounts) float64 // nil where a journal has none
}

// Amount returns what a has of what the limit counts, of a time the seconds. It is 0 for limits of which a journal sums
// nothing: Rounds, RoundsPerArm, WallTime, Patience and Target.
func (l Limit) Amount(a books.Amounts) float64 {
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

// A limit is a row of the table of limits. What checks, prints, keeps and compares budgets goes through it, so a
// new limit is a row, its field of [Budget], the place where it is set aside, and for what is summed its field of
// [books.Amounts] with its sums there, and Budget.shown.
type limit struct {
	Limit
	value   func(Budget) float64            // as it is given: 0 where there is none
	printed func(Budget) string             // as it is in force, in a fingerprint; "" leaves it out
	passed  func(Budget, step.Amounts) bool // whether the amounts pass it; nil where no amount is set aside for it

	// ends says that a run with this limit alone ends.
	ends bool
	// raisable limits end a run from without. A run that one of them ended goes on with a larger one as if it had only
	// paused, but for generations that it left no room for. The others decide what is searched.
	raisable bool
	// even limits are used up alike by the calls of every arm, so none is dearer for them.
	even bool
}

// limits are in the order in which they are looked at.
var limits = []limit{
	summed(limit{ends: true, raisable: true,
		Limit: Limit{Name: "Calls", Counts: "Calls", Unit: "calls",
			Ended: "the budget of answered calls left no room for another child"}},
		func(b Budget) int { return b.Calls }, func(a step.Amounts) int { return a.Calls }),
	summed(limit{ends: true, even: true,
		Limit: Limit{Name: "Evaluations", Counts: "Evaluations", Unit: "evaluations",
			Ended: "the budget of evaluations left no room for another"}},
		func(b Budget) int { return b.Evaluations }, func(a step.Amounts) int { return a.Evaluations }),
	summed(limit{ends: true, raisable: true,
		Limit: Limit{Name: "Tokens", Counts: "Tokens", Unit: "tokens",
			Ended: "the budget of tokens left no room for another call"}},
		func(b Budget) int64 { return b.Tokens }, func(a step.Amounts) int64 { return a.Tokens }),
	summed(limit{ends: true, raisable: true,
		Limit: Limit{Name: "FLOPs", Counts: "FLOPs", Unit: "FLOPs",
			Ended: "the budget of FLOPs left no room for another call"}},
		func(b Budget) float64 { return b.FLOPs }, func(a step.Amounts) float64 { return a.FLOPs }),
	summed(limit{ends: true, raisable: true,
		Limit: Limit{Name: "Money", Counts: "Money", Ended: "the budget of money left no room for another call"}},
		func(b Budget) float64 { return b.Money }, func(a step.Amounts) float64 { return a.Money }),
	summed(limit{ends: true, raisable: true,
		Limit: Limit{Name: "EvalTime", Counts: "Evaluators' time", Unit: "s",
			Ended: "the time for evaluations left no room for another"}},
		func(b Budget) time.Duration { return b.EvalTime }, func(a step.Amounts) time.Duration { return a.EvalTime }),
	tuneEvaluations(),
	plain(limit{ends: true, raisable: true,
		Limit: Limit{Name: "WallTime", Counts: "Time", Unit: "s", Ended: "the time was over"}},
		func(b Budget) time.Duration { return b.WallTime }),
	stalls(),
	plain(limit{ends: true,
		Limit: Limit{Name: "Rounds", Counts: "Rounds", Unit: "rounds", Ended: "the rounds of the budget were used up"}},
		func(b Budget) int { return b.Rounds }),
	plain(limit{ends: true, Limit: Limit{Name: "RoundsPerArm"}},
		func(b Budget) int { return b.RoundsPerArm }),
	plain(limit{ends: true,
		Limit: Limit{Name: "Patience", Ended: "it found nothing better for as long as its patience lasts"}},
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
func summed[T number](l limit, of func(Budget) T, amount func(step.Amounts) T) limit {
	l = plain(l, of)
	l.passed = func(b Budget, a step.Amounts) bool {
		most, sum := of(b), amount(a)
		if _, fraction := any(most).(float64); fraction {
			return most > 0 && float64(sum) > float64(most)*(1+slack)
		}
		return most > 0 && sum > most
	}
	l.amount = func(a books.Amounts) float64 { return inSeconds(amount(a)) }
	return l
}

// tuneEvaluations is a limit of which 0 means none at all. Journals of runs that tune nothing do not name it.
func tuneEvaluations() limit {
	l := summed(limit{Limit: Limit{Name: "TuneEvaluations", Counts: "Tune evaluations", Unit: "evaluations"}},
		func(b Budget) int { return b.TuneEvaluations }, func(a step.Amounts) int { return a.TuneEvaluations })
	l.passed = func(b Budget, a step.Amounts) bool { return a.TuneEvaluations > max(b.TuneEvaluations, 0) }
	l.printed = func(b Budget) string {
		if b.TuneEvaluations == 0 {
			return ""
		}
		return fmt.Sprint(b.TuneEvaluations)
	}
	return l
}

// stalls is a limit that has a default, of which negative means none, and for which nothing is set aside. It does
// not end a run: one without a stall would go on for ever.
func stalls() limit {
	l := limit{
		Limit: Limit{Name: "Stalls", Counts: "Stalls", Unit: "attempts",
			Ended: "more attempts stalled than the budget allows"},
		value: func(b Budget) float64 { return float64(max(b.Stalls, 0)) },
		printed: func(b Budget) string {
			if most, limited := b.stalls(); limited {
				return fmt.Sprint(most)
			}
			return noLimit
		},
		raisable: true,
	}
	l.amount = func(a books.Amounts) float64 { return float64(a.Stalls) }
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

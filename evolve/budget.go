package evolve

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
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
// Calls that earlier incarnations abandoned count, those lost when a process was killed do not (see [Result.Earlier]).
//
// A run with a journal that Calls, Stalls, Tokens, FLOPs, Money, EvalTime or WallTime ended can go on: give [Run] the
// same configuration with that one limit larger. A last generation that was made with fewer children stays so. The other
// limits decide what is searched, or its scores, so a run that they ended is over.
type Budget struct {
	// Calls is the number of model calls that bring an answer, T·N in the paper: one per child, however many attempts
	// it took, and one for each call beside the children ([Generation.Asides]). A generation that does not fit whole
	// is made with as many children as there is room for, with the calls that evaluators and gates are expected to
	// make for each: the mean so far, rounded up. A run ends when no such child fits, and then a few calls may be
	// left. 0 means no limit.
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

	// Tokens limits prompt and completion tokens, FLOPs the operations as package flops counts them in the worst case,
	// Money what the tokens cost at the models' prices. All three count every attempt, and an answer without usage as
	// the most it can have cost. 0 means no limit; a limit needs Models.
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
	// A step is granted no more children than can probably be evaluated: 1 + (left − EvalWorst)/e, with e = (sum +
	// EvalWorst)/(n + 1) for n children so far that took sum. The run ends when less than EvalWorst is left.
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

// stalls returns how many attempts may stall, 0 without a limit.
func (b Budget) stalls() int {
	switch {
	case b.Stalls < 0, b.Stalls == 0 && b.Calls == 0:
		return 0
	case b.Stalls > 0:
		return b.Stalls
	}
	return max(b.Calls/10, DefaultStalls)
}

func (b Budget) validate() error {
	ends := b.Target != nil
	worst := limit{Limit: Limit{Name: "EvalWorst"}, most: b.EvalWorst.Seconds()}
	for _, l := range append(b.limits(books.Amounts{}), worst) {
		if !(l.most >= 0) || math.IsInf(l.most, 0) {
			return fmt.Errorf("evolve: Budget.%s is %v: need 0 for no limit, or more", l.Name, l.most)
		}
		ends = ends || l.ends && l.most > 0
	}
	if !ends {
		return errors.New("evolve: Budget has no limit: set Calls, Rounds or another")
	}
	return b.validateModels()
}

// fingerprint returns each limit by its field's name, as it is in force and not as it was given.
func (b Budget) fingerprint() journal.Fingerprint {
	f := journal.Fingerprint{"Budget.EvalWorst": orNone(b.EvalWorst)}
	for _, l := range b.limits(books.Amounts{}) {
		if l.most > 0 || !l.allowance() { // journals of runs that tune nothing do not name that limit
			f["Budget."+l.Name] = l.printed()
		}
	}
	if b.Target != nil {
		f["Budget.Target"] = fmt.Sprint(*b.Target)
	}
	return f
}

// validateModels checks that the most a call may cost is known, without which a limit on cost would hold nothing.
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

// coreLimits returns the limits that depend on outcomes alone, which the core keeps. The ledger keeps the others.
func (b Budget) coreLimits() allocation.Limits {
	return allocation.Limits{Calls: b.Calls, Evaluations: b.Evaluations, Stalls: cmp.Or(b.stalls(), -1), Rounds: b.Rounds,
		RoundsPerArm: b.RoundsPerArm, Patience: b.Patience, Target: b.Target}
}

// newLedger returns the ledger of a run, which keeps so much of the limits for what comes when the run is over.
func newLedger(b Budget, kept step.Amounts) *step.Ledger {
	limits := step.Limits{Passed: b.passed, Stalls: cmp.Or(b.stalls(), -1), Shown: b.shown(), Prices: b.Models}
	return step.NewLedger(limits, kept)
}

// Fits returns an error unless the limits have room for this request, in the worst case at the cheapest of Models.
func (b Budget) Fits(req llm.Request) error {
	least := step.Prices(b.Models).Least(step.SizeOf(req))
	for _, l := range b.limits(least) {
		if l.passed() {
			return fmt.Errorf("evolve: Budget.%s is %v: one call may cost %.6g", l.Name, l.most, l.spent)
		}
	}
	return nil
}

// passed returns the first limit of the table that the amounts would pass, or "".
func (b Budget) passed(a step.Amounts) string {
	for _, l := range b.limits(a) {
		if l.passed() {
			return l.Name
		}
	}
	return ""
}

// shown returns the limits of what is summed, for readers of the journal and observers.
func (b Budget) shown() books.Amounts {
	return books.Amounts{Calls: b.Calls, Evaluations: b.Evaluations, Stalls: b.stalls(), Tokens: b.Tokens,
		FLOPs: b.FLOPs, Money: b.Money, EvalTime: b.EvalTime, TuneEvaluations: b.TuneEvaluations}
}

// A Limit is what a reader of a run knows of one of the limits of a [Budget].
type Limit struct {
	Name   string // the field of Budget
	Counts string // the heading of its amount on a page; "" for a limit whose amount is not shown
	Unit   string // of the amount; "" for money, which has what unit the prices have
	Ended  string // what is said of a run that it ended; "" where it ends none, or another reason is given
}

// Amount returns what a has of what the limit counts, of a time the seconds. It is 0 for limits of which a journal sums
// nothing: Rounds, RoundsPerArm, WallTime, Patience and Target.
func (l Limit) Amount(a books.Amounts) float64 { return Budget{}.limit(l.Name, a).spent }

// Limits returns the limits of a [Budget]. Of those that what is spent would pass at once, a run names the first.
func Limits() (list []Limit) {
	for _, l := range (Budget{}).limits(books.Amounts{}) {
		list = append(list, l.Limit)
	}
	return list
}

// A limit is a row of the table of limits. What checks, prints, keeps and compares budgets goes through it, so a
// new limit is a row, its field of [Budget], the place where it is set aside, and for what is summed its field of
// [books.Amounts] with its sums there, and Budget.shown.
type limit struct {
	Limit
	most  float64 // as it is in force, of a time the seconds; 0 where there is none
	spent float64 // in the same unit; 0 for what is not summed

	summed   bool // its amounts are set aside before they are spent, and must not pass it
	ends     bool // a run with this limit alone ends
	fraction bool // counted in fractions, so compared with a tolerance for rounding
	// raisable limits end a run from without. A run that one of them ended goes on with a larger one as if it had only
	// paused, but for generations that it left no room for. The others decide what is searched.
	raisable bool
	// even limits are used up alike by the calls of every arm, so none is dearer for them.
	even bool
}

// limits returns the table of limits in the order in which they are looked at: those of b, with what is spent of each.
// Stalls does not end a run, as one without a stall would go on for ever, and the ledger keeps it apart, since nothing
// is set aside for it. Target may be any number and is not held against an amount.
func (b Budget) limits(spent books.Amounts) []limit {
	return []limit{
		{Limit: Limit{Name: "Calls", Counts: "Calls", Unit: "calls",
			Ended: "the budget of answered calls left no room for another child"},
			most: float64(b.Calls), spent: float64(spent.Calls), summed: true, ends: true, raisable: true},
		{Limit: Limit{Name: "Evaluations", Counts: "Evaluations", Unit: "evaluations",
			Ended: "the budget of evaluations left no room for another"},
			most: float64(b.Evaluations), spent: float64(spent.Evaluations), summed: true, ends: true, even: true},
		{Limit: Limit{Name: "Tokens", Counts: "Tokens", Unit: "tokens",
			Ended: "the budget of tokens left no room for another call"},
			most: float64(b.Tokens), spent: float64(spent.Tokens), summed: true, ends: true, raisable: true},
		{Limit: Limit{Name: "FLOPs", Counts: "FLOPs", Unit: "FLOPs",
			Ended: "the budget of FLOPs left no room for another call"},
			most: b.FLOPs, spent: spent.FLOPs, fraction: true, summed: true, ends: true, raisable: true},
		{Limit: Limit{Name: "Money", Counts: "Money", Ended: "the budget of money left no room for another call"},
			most: b.Money, spent: spent.Money, fraction: true, summed: true, ends: true, raisable: true},
		{Limit: Limit{Name: "EvalTime", Counts: "Evaluators' time", Unit: seconds,
			Ended: "the time for evaluations left no room for another"},
			most: b.EvalTime.Seconds(), spent: spent.EvalTime.Seconds(), summed: true, ends: true, raisable: true},
		{Limit: Limit{Name: "TuneEvaluations", Counts: "Tune evaluations", Unit: "evaluations"},
			most: float64(b.TuneEvaluations), spent: float64(spent.TuneEvaluations), summed: true},
		{Limit: Limit{Name: "WallTime", Counts: "Time", Unit: seconds, Ended: "the time was over"},
			most: b.WallTime.Seconds(), ends: true, raisable: true},
		{Limit: Limit{Name: "Stalls", Counts: "Stalls", Unit: "attempts",
			Ended: "more attempts stalled than the budget allows"},
			most: float64(b.stalls()), spent: float64(spent.Stalls), raisable: true},
		{Limit: Limit{Name: "Rounds", Counts: "Rounds", Unit: "rounds", Ended: "the rounds of the budget were used up"},
			most: float64(b.Rounds), ends: true},
		{Limit: Limit{Name: "RoundsPerArm"}, most: float64(b.RoundsPerArm), ends: true},
		{Limit: Limit{Name: "Patience", Ended: "it found nothing better for as long as its patience lasts"},
			most: float64(b.Patience), ends: true},
		{Limit: Limit{Name: "Target"}},
	}
}

// limit returns the row of a name, or one of which nothing holds.
func (b Budget) limit(name string, spent books.Amounts) limit {
	for _, l := range b.limits(spent) {
		if l.Name == name {
			return l
		}
	}
	return limit{}
}

// seconds is the unit of limits on time.
const seconds = "s"

// slack is the rounding error allowed to sums of floating-point numbers, relative to their limit. The sum depends
// on the order in which calls end. Without slack a budget for exactly n calls might have room for n - 1.
const slack = 1e-12

// allowance reports whether 0 means none at all: a limit that ends nothing allows what it counts.
func (l limit) allowance() bool { return l.summed && !l.ends }

// passed reports whether what is spent passes the limit.
func (l limit) passed() bool {
	most := l.most
	if l.fraction {
		most *= 1 + slack
	}
	return l.summed && (most > 0 || l.allowance()) && l.spent > most
}

// noLimit stands in a fingerprint for a limit that is not set.
const noLimit = "none"

// printed returns the limit as it stands in a fingerprint.
func (l limit) printed() string {
	switch {
	case l.most == 0:
		return noLimit
	case l.Unit == seconds:
		return orNone(time.Duration(math.Round(l.most * float64(time.Second))))
	case l.fraction:
		return fmt.Sprint(l.most)
	}
	return strconv.FormatFloat(l.most, 'f', -1, 64)
}

// orNone prints a limit on time, of which 0 means that there is none.
func orNone(d time.Duration) string {
	if d == 0 {
		return noLimit
	}
	return d.String()
}

// costs returns what a call of each arm is expected to cost, as [bandit.Round.Costs] has it, in the unit of the limit
// of which the largest share is spent: of those that one call may use up more of than another, in the order of the
// table. It returns nil without such a limit, or where most is spent of one that every call uses up alike.
func (b Budget) costs(l *allocation.Learner) []float64 {
	scarcest, most := limit{}, 0.0
	for _, row := range b.limits(l.Spent()) {
		if share := row.spent / row.most; row.summed && row.ends && row.most > 0 && share > most {
			scarcest, most = row, share
		}
	}
	if most == 0 || scarcest.even {
		return nil
	}
	return l.Costs(scarcest.Amount)
}

package evolve

import (
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/llm"
)

// A Result is what a run found and what it cost. It keeps every attempt. Of programs it keeps those that were
// parents or best. The texts of other children would fill the memory in a long run, so they are dropped once the
// observer has seen them.
type Result struct {
	Stop  Stop           // why it stopped; StopError comes with the error that Run returns
	Limit string         // the field of Budget that bound if Stop is StopBudget
	Best  eval.Candidate // of all arms; on ties the one found first
	// Fresh is what the best program of a noisy search scores on samples that no search has seen: Score is their mean, and
	// Samples has their standard deviation and number. It is what may be claimed. The score of Best was chosen for being
	// high, and claims too much. nil if the search is not noisy, or if Unconfirmed says why there is none.
	Fresh *eval.Result
	// Unconfirmed says why Fresh has no samples, or fewer than it should; "" otherwise.
	Unconfirmed string
	BestArm     int           // the arm that found Best; the first of those that hold it from the start
	Rounds      []Round       // in the order of draws
	Arms        []ArmResult   // in the order of Config.Arms
	Calls       int           // model calls that brought an answer, as Budget.Calls counts them
	Elapsed     time.Duration // wall time, of all incarnations if the run has a journal
	// Evaluations is how many evaluations were made, as Budget.Evaluations counts them.
	Evaluations int
	// TuneEvaluations is how many were made to tune, as Budget.TuneEvaluations counts them. They are not in Evaluations.
	TuneEvaluations int
	// Earlier is what earlier incarnations of a run with a journal paid for and no generation holds. It is apart
	// from Arms, so that but for it a run that was stopped and resumed has the result of an undisturbed one.
	Earlier books.Earlier
	// Behind says that a run with a journal was canceled or failed before everything in the file was made
	// again. An earlier incarnation's result may then hold more than this one, and should not be overwritten
	// with it.
	Behind bool
}

// A Round is one pull and its outcome.
type Round struct {
	Pull       bandit.Pull // what was drawn, with its propensity
	Generation int         // the place of its generation in the arm's Generations
	Reward     float64     // of Config.Reward; 0 if the generation is Partial and the policy was not told
	Best       float64     // the run's best score when it ended; 0 without a valid candidate
}

// An ArmResult is what one arm began with, found and made.
type ArmResult struct {
	Start eval.Candidate // what it began with
	Best  eval.Candidate
	// Asides are the calls made before its first step, as by an evaluator that asks a model to score Start, and those for
	// fresh samples after its last.
	Asides      []Call
	Generations []Generation
}

// Attempts calls yield for every attempt of the run, arm by arm.
func (r *Result) Attempts(yield func(llm.Attempt) bool) {
	for attempts := range r.EachCall {
		for _, a := range attempts {
			if !yield(a) {
				return
			}
		}
	}
}

// EachCall calls yield for the attempts of every model call of the arm: those before its first step, then by
// generation, oldest first.
func (a ArmResult) EachCall(yield func([]llm.Attempt) bool) {
	for _, c := range a.Asides {
		if !yield(c.Attempts) {
			return
		}
	}
	for _, g := range a.Generations {
		for attempts := range g.EachCall {
			if !yield(attempts) {
				return
			}
		}
	}
}

// EachCall calls yield for the attempts of every model call of the result, arm by arm. What is in
// [Result.Earlier] is not among them.
func (r *Result) EachCall(yield func([]llm.Attempt) bool) {
	for _, arm := range r.Arms {
		for attempts := range arm.EachCall {
			if !yield(attempts) {
				return
			}
		}
	}
}

// slim returns g without what a long run cannot keep in memory: the programs and artifacts of its children. It
// copies the children, because the observer is given the generation whole.
func slim(g Generation) Generation {
	children := make([]Child, len(g.Children))
	for i, c := range g.Children {
		if c.HasProgram() {
			c.Program = dropped
		}
		c.Result.Artifacts = nil
		children[i] = c
	}
	g.Children = children
	return g
}

// dropped stands for the text of a program that a Result does not keep, so that HasProgram holds.
const dropped = "(not kept)"

// A Stop says why a run stopped. It is a value, not an error.
type Stop string

// The reasons a run stops.
const (
	StopBudget    Stop = "budget"    // a limit of the Budget bound; Result.Limit names it
	StopTarget    Stop = "target"    // the Target was reached
	StopExhausted Stop = "exhausted" // every arm is done, or has had its RoundsPerArm
	StopCanceled  Stop = "canceled"  // the context ended
	StopError     Stop = "error"     // Run returned the error with this result
)

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventDraw       EventKind = "draw"       // an arm was drawn and begins a generation
	EventChild      EventKind = "child"      // a child was taken in by its search, or refused
	EventGeneration EventKind = "generation" // a generation ended
	EventStop       EventKind = "stop"       // the run is over
)

// An Event is something that happened in a run. A comment that names kinds says for which the field is set; it
// is zero for others. One struct with a kind, and not a type for each, so that an observer that logs or counts
// needs no type switch.
type Event struct {
	Kind       EventKind
	Pull       bandit.Pull    // draw, child, generation
	Generation Generation     // generation, with all programs, which a Result does not keep; child: only its Index
	Child      Child          // child; whether it is a Duplicate is known when its generation ends
	Reward     float64        // generation; 0 if it is Partial
	Best       eval.Candidate // the best of the run so far, in generations that ended
	Calls      int            // model calls that brought an answer so far, in generations that ended
	Ledger     books.Ledger   // what is spent and set aside now, and the limits
	Stop       Stop           // stop
}

package evolve

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// A Generation is one step of a search. An arm tells its Children and its Best, and [Run] fills in what it leaves out.
type Generation struct {
	Index int // 1 for the first; 0 is the initial program's evaluation
	// Before is the search's best when the step began, and Best when it ended. Best is Before unless a child
	// is strictly better; among equal children it is the one that was taken in first.
	Before, Best eval.Candidate
	Children     []Child // by index; those that were never sent are not among them
	// Width is how many children the step was to make: what its search decided on, or the calls that its turn
	// granted if these are fewer. It is 0 for a search that does not use a [Breeder].
	Width int
	// Asides are the calls that the step made beside its children: a judge's, a summary's, an evaluator's. Set by [Run].
	// A call for a child that the arm left out is among them.
	Asides []Call
	// Audits are what a second evaluator says of bests of the search, under [Config.Audit].
	Audits      []eval.Audit
	Evaluations int           // evaluations made, without those that were remembered; set by [Run]
	Elapsed     time.Duration // from the start of the step to its end, in the incarnation that saw its end
	Partial     bool          // an error, or the end of the run, cut it short, or it ended after the run had stopped
	Limit       string        // the field of the run's Budget that left no room for more; "" if none did
	// TuneEvaluations are those of [Turn.Tune], in the same way. They are not among Evaluations.
	TuneEvaluations int
}

// A Call is one call that a step made beside those that its children are replies to.
type Call struct {
	Kind     string        // what it was for: "judge", "insights", "evaluation", "agent"
	Child    int           // ID of the child in whose session it was made (see [Work]); 0 for none
	Attempts []llm.Attempt // oldest first; what it cost
}

// A Child is one proposal and what became of it: no program, an invalid one, or a score.
type Child struct {
	eval.Candidate
	Index    int               // in its step, from 0
	ID       int               // its order of birth in its arm, from 1; 0 is the initial program
	Parents  []int             // IDs, the one it was made from first
	Operator string            // what made it; "" for a plain rewrite
	Labels   map[string]string // how else it was made and where it stands, as of its Brief; not to be changed
	Seed     uint32            // of its request
	Proposer string            // which of several it was asked of; "" for the only one
	// Propensity is the chance with which the proposer was drawn, 0 if it was not; Credit is what its policy was told.
	Propensity float64
	Credit     *float64
	// Attempts are those of the reply that it was read from, oldest first; none if no model was asked. An arm passes on
	// the slice that [Turn.Ask] returned, by which [Run] knows whose a call is.
	Attempts []llm.Attempt
	Err      string // why it has no program or score; "" otherwise
	Mended   string // what its reply left out and the task put back, see [task.Parse]; "" for nothing
	// Hash names the program as journals do, as a Result does not keep it; "" without a program. [Run] sets it.
	Hash string
	// Duplicate says that an earlier child of the run, or the initial program, is the same program. [Run] sets
	// it. The program was evaluated only once, unless the search has a Noise.
	Duplicate bool
}

// HasProgram reports whether there is a program.
func (c Child) HasProgram() bool { return c.Program != "" }

// Asked reports whether a model was asked for the child.
func (c Child) Asked() bool { return len(c.Attempts) > 0 }

// Scored reports whether the child was evaluated, with a valid result or an invalid one.
func (c Child) Scored() bool { return c.HasProgram() && c.Err == "" }

// Answered reports whether the child's call brought an answer, as Budget.Calls counts them.
func (c Child) Answered() bool { return answered(c.Attempts) }

// state returns what became of the child, as far as it tells: one that the budget had no room for, or that was
// abandoned as the run ended, looks like one whose call failed.
func (c Child) state() books.State {
	switch {
	case c.Scored() && c.Result.Valid:
		return books.StateValid
	case c.Scored():
		return books.StateInvalid
	case c.HasProgram():
		return books.StateRefused // by its brief's Admit
	case c.Answered():
		return books.StateUnparsed
	}
	return books.StateFailed
}

// Proposal returns what readers of a run are told of the child. Its numbers are finite, as JSON holds no others.
func (c Child) Proposal() books.Proposal {
	samples := c.Result.Clean().Samples
	c.Result = kept(c.Result)
	p := books.Proposal{ID: c.ID, Parents: c.Parents, Operator: c.Operator, Labels: bounded(c.Labels), State: c.state(),
		Valid: c.Result.Valid, Score: c.Result.Score, Reason: reason(c),
		Proposer: c.Proposer, Propensity: c.Propensity, Credit: c.Credit}
	if samples != nil {
		p.SD, p.Samples = samples.SD, samples.N
	}
	return p
}

// answered reports whether a call that made these attempts brought an answer.
func answered(attempts []llm.Attempt) bool { return step.Answered(attempts) }

// EachCall calls yield for the attempts of every model call of the generation: by child, then those beside the
// children. Every count and cost of a run is made from this one walk, so that none of them leaves a call out.
func (g Generation) EachCall(yield func([]llm.Attempt) bool) {
	for _, c := range g.Children {
		if c.Asked() && !yield(c.Attempts) {
			return
		}
	}
	for _, c := range g.Asides {
		if !yield(c.Attempts) {
			return
		}
	}
}

// kept returns a result as a record holds it: JSON has no Inf, and a reason that an arm made up may have any length.
func kept(r eval.Result) eval.Result {
	clean := eval.Result{Valid: r.Valid, Score: r.Score, Reason: r.Reason}.Clean()
	if !r.Valid && r.Reason == "" {
		clean.Reason = "" // Clean makes one up
	}
	return clean
}

// bounded returns labels with values of at most eval.MaxName bytes, as they may come from what programs say.
func bounded(labels map[string]string) map[string]string {
	short := maps.Clone(labels)
	for kind, name := range short {
		if len(name) > eval.MaxName {
			short[kind] = strings.ToValidUTF8(name[:eval.MaxName], "")
		}
	}
	return short
}

// reason returns why the child has no program or no score, in the length that a result's reason has.
func reason(c Child) string {
	why := cmp.Or(c.Err, c.Result.Reason)
	if why == "" {
		return ""
	}
	return eval.Invalid("%s", why).Clean().Reason
}

// address tells c from the other children of its step.
func (c Child) address() step.Address { return step.Address{Index: c.Index, ID: c.ID} }

// A Result is what a run found and what it cost. It keeps every attempt, and the programs that were parents or best.
// Others would fill the memory in a long run, so they are dropped once the observer has seen them.
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
	// Behind says that a run with a journal was canceled or failed before everything in the file was made again. The
	// result of an earlier incarnation may then hold more: do not overwrite it.
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
	// Asides are the calls beside its steps: of evaluators that score Start, and for fresh samples at the end.
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

// EachCall calls yield for the attempts of every model call of the arm: those beside its steps, then by generation.
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

// EachCall calls yield for the attempts of every model call of the result, arm by arm, without [Result.Earlier].
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

// An Event is something that happened in a run. A comment that names kinds says for which the field is set. One struct
// with a kind, and not a type for each, so that an observer that logs or counts needs no type switch.
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

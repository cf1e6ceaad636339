package evolve

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/llm"
)

// A Generation is one step of a search.
type Generation struct {
	Index int // 1 for the first; 0 is the initial program's evaluation
	// Before is the search's best when the step began, and Best when it ended. Best is Before unless a child
	// is strictly better; among equal children it is the one that was taken in first.
	Before, Best eval.Candidate
	Children     []Child // by index; those that were never sent are not among them
	// Width is how many children the step was to make: what its search decided on, or the calls that its turn
	// granted if these are fewer. It is 0 for a search that does not use a [Breeder].
	Width int
	// Asides are the calls that the step made beside its children: a judge's, a summary's, an evaluator's.
	// [Run] adds those that the arm left out, so that every call that was paid for is counted.
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

// callsOf returns calls as a Generation has them.
func callsOf(made []step.Call) []Call {
	var list []Call
	for _, c := range made {
		list = append(list, Call(c))
	}
	return list
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
	// Propensity is the chance with which the proposer was drawn, 0 if it was not, and Credit what its policy learned
	// of the draw, nil for nothing.
	Propensity float64
	Credit     *float64
	Attempts   []llm.Attempt // oldest first; what it cost; none if no model was asked
	Err        string        // why it has no program or score; "" otherwise
	Mended     string        // what its reply left out and the task put back, see [task.Parse]; "" for nothing
	// Hash names the program, which a Result does not keep, as journals do: the key of its record. [Run] sets it. ""
	// without a program.
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

// Attempts calls yield for every attempt of the generation: by child, then those beside the children.
func (g Generation) Attempts(yield func(llm.Attempt) bool) {
	for attempts := range g.EachCall {
		for _, a := range attempts {
			if !yield(a) {
				return
			}
		}
	}
}

// kept returns a result as a record holds it. One that an arm made up itself may have a score that is not finite, which
// JSON cannot hold, and a reason of any length.
func kept(r eval.Result) eval.Result {
	clean := eval.Result{Valid: r.Valid, Score: r.Score, Reason: r.Reason}.Clean()
	if !r.Valid && r.Reason == "" {
		clean.Reason = "" // Clean makes one up
	}
	return clean
}

// bounded returns labels with values of at most eval.MaxName bytes: where a child stands may be taken from what its
// program says.
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

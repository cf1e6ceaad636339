// Package books has the plain values in which a run accounts for itself: what became of a child, and what is spent of
// a budget. Journals hold them, observers of a run get them, and package history makes a Run of them.
package books

import (
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A Proposal is what is told of a child. Of the program that an arm starts with, Valid, Score and Reason are told.
type Proposal struct {
	// its order of birth in its arm, from 1; 0 is the initial program
	ID       int    `json:"id,omitempty"`
	Parents  []int  `json:"parents,omitempty"`  // IDs, that of the one that it was made from first
	Operator string `json:"operator,omitempty"` // what made it; "" for a plain rewrite
	// which of several proposers made it, its chance when it was drawn, and what its policy learned of that
	Proposer   string   `json:"proposer,omitempty"`
	Propensity float64  `json:"propensity,omitempty"`
	Credit     *float64 `json:"credit,omitempty"`
	// how else it was made and where it stands, by kind: "island", "cell"
	Labels  map[string]string `json:"labels,omitempty"`
	State   State             `json:"state,omitempty"` // what became of it
	Valid   bool              `json:"valid,omitempty"`
	Score   float64           `json:"score,omitempty"`
	SD      float64           `json:"sd,omitempty"`      // of the samples that Score is the mean of
	Samples int               `json:"samples,omitempty"` // how many they are; 0 for one
	Reason  string            `json:"reason,omitempty"`  // why it has no program or score
}

// A State says what became of a child.
type State string

// The states of a child.
const (
	StateValid    State = "valid"
	StateInvalid  State = "invalid"  // it was evaluated, and has no score
	StateUnparsed State = "unparsed" // the reply held no program
	// StateFailed: its call brought no answer, or what makes it without a call failed, or a call of its evaluator did.
	StateFailed    State = "failed"
	StateRefused   State = "refused"   // the budget had no room for it, or a gate did not admit it
	StateAbandoned State = "abandoned" // its call or its evaluation was abandoned as the run ended
)

// A Ledger is what a run has spent of its budget, and what it has set aside.
type Ledger struct {
	Spent Amounts `json:"spent,omitzero"`
	// Reserved is set aside for what is under way, at the most that it can cost. Reserved.Calls is how many calls are.
	Reserved Amounts `json:"reserved,omitzero"`
	// Limit is what the budget allows; 0 means no limit. It stands in the record of the run alone.
	Limit Amounts `json:"limit,omitzero"`
	// StallsAt are the attempts that stalled, by endpoint. It stands in no record: the attempts do.
	StallsAt map[string]int `json:"-"`
}

// Amounts are what a budget counts.
type Amounts struct {
	Calls       int           `json:"calls,omitempty"` // that brought an answer
	Evaluations int           `json:"evaluations,omitempty"`
	Stalls      int           `json:"stalls,omitempty"`  // attempts
	Tokens      int64         `json:"tokens,omitempty"`  // of prompts and completions
	FLOPs       float64       `json:"flops,omitempty"`   // 0 for models whose size is not known
	Money       float64       `json:"money,omitempty"`   // 0 for models whose price is not known
	EvalTime    time.Duration `json:"eval_ns,omitempty"` // that evaluations took
	// TuneEvaluations are apart from Evaluations, and their time is not in EvalTime.
	TuneEvaluations int `json:"tune_evaluations,omitempty"`
}

// Plus returns the sums.
func (a Amounts) Plus(b Amounts) Amounts { return a.add(b, 1) }

// Minus returns the differences.
func (a Amounts) Minus(b Amounts) Amounts { return a.add(b, -1) }

func (a Amounts) add(b Amounts, times int) Amounts {
	return Amounts{
		Calls: a.Calls + times*b.Calls, Evaluations: a.Evaluations + times*b.Evaluations, Stalls: a.Stalls + times*b.Stalls,
		Tokens: a.Tokens + int64(times)*b.Tokens, FLOPs: a.FLOPs + float64(times)*b.FLOPs,
		Money: a.Money + float64(times)*b.Money, EvalTime: a.EvalTime + time.Duration(times)*b.EvalTime,
		TuneEvaluations: a.TuneEvaluations + times*b.TuneEvaluations,
	}
}

// An Earlier is what earlier incarnations of a run paid for that no generation of its result holds, because
// the run made it again or did not ask for it any more. It is empty for a run that was never stopped.
// Together with the attempts in the result it is all that the run cost.
type Earlier struct {
	// Abandoned holds the attempts of each call that was abandoned (Ctrl-C, the endpoint gone), that failed
	// before an error ended the run, or that was under way at a kill after an attempt had ended.
	Abandoned [][]llm.Attempt
	// Lost stands for the attempts that were under way when a process was killed. Whether a server answered them, and
	// what that cost, is not known. So each has the status canceled, no usage and an EstimatedPrompt. MaxTokens is 0 if
	// the request left it to the model.
	Lost []llm.Attempt
	// Unclaimed holds the attempts of each call that was answered and that the run did not ask for when it made
	// the pull again. The requests of such a search depend on more than its seeds and the answers, for example
	// on the time or on the order of a map.
	Unclaimed [][]llm.Attempt
}

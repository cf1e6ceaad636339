package journal

import "time"

// A Ledger is what a run has spent of its budget, and what it has set aside. Readers of a journal and observers of a run
// get it. The journal itself does not look at it.
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

// A Model is a model that a run may ask.
type Model struct {
	Key          string `json:"key"`  // as attempts name it
	Name         string `json:"name"` // what the endpoint calls it
	ActiveParams int64  `json:"active_params,omitempty"`
	Price        *Price `json:"price,omitempty"` // nil if it is not known
}

// A Price is what a million tokens cost, as of llm.Price.
type Price struct {
	Prompt     float64 `json:"prompt"`
	Cached     float64 `json:"cached"`
	Completion float64 `json:"completion"`
}

// An Arm is what a run knows of a search.
type Arm struct {
	Name string  `json:"name"`           // what its String method returns, or its type
	Seed *uint32 `json:"seed,omitempty"` // nil if it does not say
}

// A State says what became of a child.
type State string

// The states of a child.
const (
	StateValid     State = "valid"
	StateInvalid   State = "invalid"   // it was evaluated, and has no score
	StateUnparsed  State = "unparsed"  // the reply held no program
	StateFailed    State = "failed"    // its call brought no answer, or what makes it without a call failed, or a call of its evaluator did
	StateRefused   State = "refused"   // the budget had no room for it, or a gate did not admit it
	StateAbandoned State = "abandoned" // its call or its evaluation was given up as the run ended
)

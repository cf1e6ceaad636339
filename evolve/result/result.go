// Package result has the result files of runs: their JSON types, under the names of the BaSE paper's files where that has
// them, one reader of all versions, the paper's too, and one writer.
//
// [Greedy] is the file of one search and [Bandit] that of a bandit over several. Package report makes them of an
// evolve.Result, [Save] writes them, and [Read] reads both as a Bandit. [Bandit.History] makes a history.Run of one, and
// [Bandit.Sum] fills in the sums, which history computes of the rows. docs/reference.md describes the fields.
package result

import (
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A Greedy is the result of one search. Kind names a search that is not greedy.
type Greedy struct {
	Setting // of the budget
	Search
	Outcome
}

// A Bandit is the result of a bandit over searches. Lists by round are in the order of draws, lists by arm in the arms'
// order. FLOPs by round are those of the worst case.
type Bandit struct {
	Task           string    `json:"task"`
	Model          string    `json:"model"`
	ModelName      string    `json:"model_name"`
	Active         int64     `json:"params_active"`
	Algo           string    `json:"algo"`   // the policy's short name
	Policy         string    `json:"policy"` // its description, with its parameters
	C              int       `json:"C"`      // the budget, T·N calls
	T              int       `json:"T_total"`
	N              int       `json:"N"`
	Breadth        string    `json:"breadth,omitempty"`
	Ties           string    `json:"ties,omitempty"` // as in Setting
	Arms           int       `json:"n_arms"`
	ArmSeeds       []int64   `json:"arm_seeds"`              // the paper's may be negative
	Kinds          []string  `json:"arm_searches,omitempty"` // what kind of search each arm is; nil if all are greedy
	BanditSeed     Seed      `json:"bandit_seed"`
	Selections     []int     `json:"selections"`
	Propensities   []float64 `json:"propensities"`    // nil in the paper's files
	Granted        []int     `json:"calls_per_round"` // 0 if its search does not say how many it makes
	Rewards        []float64 `json:"rewards"`
	RunningBest    []float64 `json:"running_best"` // of the run, when the round ended
	PerRound       []float64 `json:"flops_per_round"`
	Cumulative     []float64 `json:"cumulative_flops"` // with what was asked before the first round
	TotalWorstCase float64   `json:"total_flops_worst_case"`
	FLOPs          Cost      `json:"flops"`
	FinalFitness   float64   `json:"final_best_fitness"` // the best score of all
	BestArmSeed    int64     `json:"best_arm_seed"`      // of the arm that found it
	ArmPulls       []int     `json:"arm_pulls"`
	ArmFitness     []float64 `json:"arm_final_fitness"`
	ArmResults     []Arm     `json:"arm_results"`
	Totals         Totals    `json:"ledgers,omitempty"` // of all arms together; nil if nothing is named
	Counts
	Outcome
	// Alone says that the file is a Greedy's, whose search [Read] makes the only arm, drawn in each round.
	Alone bool `json:"-"`
}

// A Setting is what a search was run with. It is in each row of a bandit's arms too: read alone, a row would
// otherwise name neither its task nor its budget.
type Setting struct {
	Kind      string `json:"search,omitempty"` // what kind of search it is; "" for a greedy one
	Task      string `json:"task"`
	Model     string `json:"model"`             // its key
	ModelName string `json:"model_name"`        // what the endpoint calls it
	C         int    `json:"C"`                 // calls, T·N
	T         int    `json:"T"`                 // generations; with a breadth those that C calls would make if all had N
	N         int    `json:"N"`                 // calls in a generation; with a breadth the most
	Breadth   string `json:"breadth,omitempty"` // what decided how many calls each generation had; "" if N in each
	Ties      string `json:"ties,omitempty"`    // [TiesTaken]; "" if the parent stays, or the search has a rule of its own
}

// TiesTaken is what a file says of a search in which a child that scores as its parent takes its place.
const TiesTaken = "taken"

// A Search is what one search found and cost.
type Search struct {
	Seed         int64               `json:"seed"`
	FinalFitness float64             `json:"final_fitness"`           // of the best program
	FinalSD      float64             `json:"final_sd,omitempty"`      // of the samples that it is the mean of
	FinalN       int                 `json:"final_n,omitempty"`       // how many they are; 0 for one
	FinalMetrics map[string]float64  `json:"final_metrics"`           // of the best program; {} if it has none
	FinalProgram string              `json:"final_program,omitempty"` // its hash
	Trajectory   []Generation        `json:"trajectory"`              // by generation, from 0
	FLOPs        Cost                `json:"flops"`
	Audit        *Audited            `json:"audit,omitempty"`          // nil if the search is not audited
	PerGen       []float64           `json:"flops_per_generation"`     // by generation from 1, in the worst case
	Operators    map[string]Operator `json:"operators,omitempty"`      // nil if nothing is named
	Uses         map[string]Use      `json:"asides_by_kind,omitempty"` // calls beside the children
	Totals       Totals              `json:"ledgers,omitempty"`        // nil if nothing is named
	Counts
}

// An Arm is one of the searches of a [Bandit], with the fields that the file of a [Greedy] search has. Its T is the
// number of generations that it got, and its C the calls that they were granted: T·N without a breadth.
type Arm struct {
	Setting
	Search
	WallSeconds float64 `json:"wall_time_seconds"` // of its generations; those of several arms can overlap
}

// An Outcome is how a run ended.
type Outcome struct {
	Total       *Lives   `json:"all_lives,omitempty"`        // nil if the rows hold every call
	Evaluations int      `json:"evaluations"`                // that were made, not those remembered
	Tuned       int      `json:"tune_evaluations,omitempty"` // that tuners made; they are not in Evaluations
	Stop        string   `json:"stop"`                       // as evolve.Stop has it; "" in the paper's files
	Limit       string   `json:"limit,omitempty"`            // the field of the Budget that bound if Stop is "budget"
	WallSeconds float64  `json:"wall_time_seconds"`
	Money       *float64 `json:"money,omitempty"`    // cost of all calls, also of earlier incarnations; nil without prices
	Fresh       *Fresh   `json:"fresh,omitempty"`    // nil if the search is not noisy
	HeldOut     *HeldOut `json:"held_out,omitempty"` // of the best program; nil if the task holds no cases out
}

// A Lives is what a run cost over all its incarnations: every call of the rows, and those of evolve.Result.Earlier. It
// is apart from the rest of the file, so that but for it and for times, the file of a run that was stopped or killed and
// resumed is that of an undisturbed run.
type Lives struct {
	// Lost calls were under way when an incarnation was killed. They may have been paid for. So each counts as
	// one canceled attempt without usage, which the worst case charges with the cap on new tokens.
	Lost      int  `json:"lost_calls"`
	Aborted   int  `json:"aborted_calls"`             // abandoned (Ctrl-C, the endpoint gone) and made again
	Unclaimed int  `json:"unclaimed_calls,omitempty"` // answered before a kill, and not asked for again
	FLOPs     Cost `json:"flops"`
	Counts
}

// A Generation is one row of a trajectory. Row 0 is the initial program and has no parent. A fitness is a score, and 0
// for a program that is invalid. What other versions of the format may lack is a pointer.
type Generation struct {
	Generation    int      `json:"generation"`
	BestFitness   *float64 `json:"best_fitness"`
	BestSD        float64  `json:"best_sd,omitempty"` // standard deviation of the samples of BestFitness
	BestN         int      `json:"best_n,omitempty"`  // number of these samples; 0 for one
	ParentFitness *float64 `json:"parent_fitness,omitempty"`
	Width         int      `json:"width,omitempty"` // children planned; 0 in row 0, and if the search does not say
	Count         *int     `json:"n_children"`      // children made
	Valid         int      `json:"n_valid"`         // children that are valid; in row 0: 1 if the initial program is
	Improved      int      `json:"n_improved"`      // children strictly better than the parent
	Children      []Child  `json:"children"`
	Asides        []Aside  `json:"asides,omitempty"`           // in row 0 those before the first generation
	Evaluations   int      `json:"evaluations,omitempty"`      // evaluations made, without those remembered
	Tuned         int      `json:"tune_evaluations,omitempty"` // evaluations made by a tuner
	Seconds       float64  `json:"gen_time_s"`                 // wall time of the generation
	Audits        []Audit  `json:"audits,omitempty"`           // second evaluations of the best programs
	Lenient       bool     `json:"lenient_win,omitempty"`      // its best is better than the one before by a tolerance alone
	Partial       bool     `json:"partial,omitempty"`          // whether it was cut short; the policy heard nothing of it
	Reason        string   `json:"reason,omitempty"`           // in row 0: why the initial program has no score
	Program       string   `json:"program,omitempty"`          // in row 0: the hash of the initial program
}

// A Child is one proposal. It has the hash of its program and not the text, because a result does not keep the programs
// of all children.
type Child struct {
	Index       int               `json:"idx"`
	ID          int               `json:"id,omitempty"`      // its order of birth in its arm, from 1
	Parents     []int             `json:"parents,omitempty"` // IDs, the one it was made from first; 0 is the initial program
	Operator    string            `json:"operator,omitempty"`
	Program     string            `json:"program,omitempty"` // its hash, by which a journal has the text
	Seed        uint32            `json:"seed"`
	Fitness     *float64          `json:"fitness"`              // null without a program, 0 for an invalid one
	SD          float64           `json:"fitness_sd,omitempty"` // of the samples that Fitness is the mean of
	N           int               `json:"fitness_n,omitempty"`  // how many they are; 0 for one
	Valid       bool              `json:"valid"`
	Reason      string            `json:"reason,omitempty"` // why the child has no program or no score
	Mended      string            `json:"mended,omitempty"` // what its reply left out and the task put back
	Attempts    Attempts          `json:"attempts"`
	FinalStatus *string           `json:"final_status"`        // the last attempt's; "" without attempts
	Duplicate   bool              `json:"duplicate,omitempty"` // an earlier child, or the initial program, is the same
	Labels      map[string]string `json:"-"`                   // in no file: its totals sum them
	// Proposal has what else journals and exports tell of a child. What the fields above say is zero here.
	books.Proposal
}

// An Aside is a call that a step made beside its children: a judge's, a summary's, an evaluator's.
type Aside struct {
	Kind        string   `json:"kind"`
	Child       int      `json:"child,omitempty"` // ID of the child in whose session it was made
	Attempts    Attempts `json:"attempts"`
	FinalStatus *string  `json:"final_status"` // the last attempt's
}

// An Audit is what a second evaluator says of a program that a search held to be its best (eval.Audit).
type Audit struct {
	Program string   `json:"program"` // its hash
	Score   float64  `json:"score"`   // that the search knows
	Audited *float64 `json:"audited"` // the second evaluator's; null if it is invalid there, or was not audited
	Gap     *float64 `json:"gap,omitempty"`
	Demoted bool     `json:"demoted,omitempty"` // the search does not keep it as its best
	Reason  string   `json:"reason,omitempty"`  // why it has no audited score, or was demoted
}

// An Audited sums the audits of a search.
type Audited struct {
	Start   *Audit `json:"start,omitempty"` // of the program that it began with
	Final   *Audit `json:"final,omitempty"` // of its best program; nil if that was not audited
	Audits  int    `json:"audits"`
	Demoted int    `json:"demoted"`
}

// A Fresh is what the best program of a noisy search scores on samples that the search has not seen. Claim this, and
// not the score that the program was chosen by.
type Fresh struct {
	Score  float64 `json:"score"`            // their mean; 0 if there are none, or the program is invalid in one
	SD     float64 `json:"sd"`               // their standard deviation; 0 for fewer than two
	N      int     `json:"n"`                // how many there are
	Reason string  `json:"reason,omitempty"` // why there are none, or fewer than there should be
}

// A HeldOut is what the best program of a run scores on cases that the search never saw, beside the score that it was
// searched for.
type HeldOut struct {
	Score         float64            `json:"score"` // 0 if there is a Reason
	Reason        string             `json:"reason,omitempty"`
	Metrics       map[string]float64 `json:"metrics,omitempty"`
	Cases         int                `json:"n_cases,omitempty"`          // that have a score each; 0 if the task does not say
	Searched      float64            `json:"searched_score"`             // that of the search
	SearchedCases int                `json:"n_searched_cases,omitempty"` // as Cases
	// Gap is Searched − Score with its interval; nil unless both have at least 5 cases, or if the scores are so
	// large or so close together that the interval is not a finite number.
	Gap *Gap `json:"gap,omitempty"`
	// Note says in words that the held-out score is lower than chance explains; "" if it is not, or that cannot be told.
	Note string `json:"note,omitempty"`
	// Run says which run the score is of, by a hash of what decides it; "" if the program that made the run does not say.
	Run string `json:"run,omitempty"`
	// What the scoring asked of models. It is after the run, and neither in its budget nor in its counts.
	Use   Use   `json:"asked"`
	FLOPs *Cost `json:"flops,omitempty"` // nil if nothing was asked
}

// A Gap is a difference of two means with its 95 % interval.
type Gap struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Cost is what attempts cost under each rule. All rules are in every file, because which of them is right for an
// attempt that timed out is the reader's to choose, and cannot be computed later from a sum.
type Cost struct {
	Active    int64         `json:"params_active"` // of the model, for attempts that name none of their own
	WorstCase flops.Summary `json:"worst_case"`
	Exclude   flops.Summary `json:"exclude"`
	Bounded   flops.Summary `json:"bounded"`
	Observed  flops.Summary `json:"observed"`
}

// Counts counts calls, attempts and tokens by [llm.Class]. Every attempt belongs to one class, and a call belongs
// to the class of its last attempt. So the classes add up to the whole, and nothing that was paid for is missing.
type Counts struct {
	Calls     map[llm.Class]int            `json:"calls"` // one a call, however many attempts
	Attempts  map[llm.Class]int            `json:"attempts_by_class"`
	Tokens    map[llm.Class]history.Tokens `json:"tokens"`
	StallRate float64                      `json:"stall_rate"` // stalled attempts / attempts; 0 if there are none
	// Endpoints counts the attempts that name the endpoint which was asked, by its name or URL.
	Endpoints map[string]Endpoint `json:"endpoints,omitempty"`
}

// An Endpoint counts the attempts at one endpoint, by class. Those that were canceled are the rest.
type Endpoint struct {
	Attempts  int     `json:"attempts"`
	Real      int     `json:"real"`
	Stalls    int     `json:"stalls"`
	Errors    int     `json:"errors"`
	StallRate float64 `json:"stall_rate"` // Stalls / Attempts
	// OverCap counts the attempts for which the endpoint reported more tokens than the request allows.
	// If it is not 0, this endpoint may have made the run cost more than its limits on tokens, FLOPs and money.
	OverCap int `json:"over_cap,omitempty"`
}

// An Operator sums what the children of one operator cost, and what came of them. One that shows several programs costs
// several times the tokens of a rewrite, so operators are to be compared by tokens and not by children.
type Operator struct {
	Children int            `json:"children"`
	Calls    int            `json:"calls"`    // answered, as a budget counts them; a merge makes none
	Valid    int            `json:"valid"`    // children that are valid
	Improved int            `json:"improved"` // children strictly better than all that their search had before their step
	Tokens   history.Tokens `json:"tokens"`   // of all attempts, as far as they are known
}

// A Use sums the calls of one kind that were made beside the children.
type Use struct {
	Calls  int            `json:"calls"` // answered
	Tokens history.Tokens `json:"tokens"`
}

// Totals has a row for each operator, selector, model, proposer, instruction and settings that children were made by:
// by kind and by name. Names are printable lines of at most 300 bytes, those of labels 200; of each kind the first 1000
// have rows, and "others" has the rest. A page of the run's journal shows the same.
type Totals map[string]map[string]Total

// A Total sums what came of the children that name something, and what they cost.
type Total struct {
	Children int     `json:"children"`
	Calls    int     `json:"calls"` // answered
	Valid    int     `json:"valid"`
	FLOPs    float64 `json:"flops"` // of all attempts, in the worst case
	// Improved are those strictly better than all that their search had before their step.
	Improved int `json:"improved"`
	// Lift is the mean of l = score − parent's score over the valid children of a valid parent, in standard deviations of
	// all such lifts of the arm, or in a [Bandit] of the run:
	//
	//	lift = l̄/s,  s² = Σ(l − l̄ₐ)²/(n − 1)
	//
	// with l̄ the mean of the row's, and l̄ₐ and s the mean and the standard deviation of all n. 0 if s is 0 or n < 2.
	Lift float64 `json:"mean_lift_sd"`
	// Lifted is of how many children Lift is the mean.
	Lifted int `json:"lifted"`
	// Last is the last improvement; nil without one.
	Last *Place `json:"last_improvement,omitempty"`
}

// A Place says which child it is.
type Place struct {
	Arm        int `json:"arm"` // 0 in the totals of an arm
	Generation int `json:"generation"`
	Index      int `json:"idx"`
}

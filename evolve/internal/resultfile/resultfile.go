// Package resultfile has what readers take from a result file, of this library in any version or of the BaSE paper's
// code. The names are the paper's where it has them; the types of evolve/report describe all. That package writes such
// files and stands above the searches: a reader of files needs none of them.
package resultfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/llm"
)

// A File is a result, of one search or of a bandit over several.
type File struct {
	Task        string          `json:"task"`
	Model       string          `json:"model"`
	ModelName   string          `json:"model_name"`
	Search      string          `json:"search"` // "" for a greedy one
	Breadth     string          `json:"breadth"`
	Ties        string          `json:"ties"` // "taken" if a child that scores as its parent takes its place
	C           float64         `json:"C"`
	T           int             `json:"T"`
	N           int             `json:"N"`
	Stop        string          `json:"stop"`
	Limit       string          `json:"limit"`
	Evaluations int             `json:"evaluations"`
	Tuned       int             `json:"tune_evaluations"`
	FLOPs       json.RawMessage `json:"flops"`
	Lives       *lives          `json:"all_lives"`
	Seed        int64           `json:"seed"`
	Trajectory  []Row           `json:"trajectory"`
	PerGen      []float64       `json:"flops_per_generation"`

	// of a bandit
	Algo         string      `json:"algo"`
	Policy       string      `json:"policy"`
	Total        int         `json:"T_total"`
	BanditSeed   json.Number `json:"bandit_seed"`
	Selections   []int       `json:"selections"`
	Propensities []float64   `json:"propensities"`
	Rewards      []float64   `json:"rewards"`
	Granted      []int       `json:"calls_per_round"`
	Running      []float64   `json:"running_best"`
	PerRound     []float64   `json:"flops_per_round"`
	Arms         []Arm       `json:"arm_results"` // nil in the file of one search
	ArmSeeds     []int64     `json:"arm_seeds"`
	Searches     []string    `json:"arm_searches"` // of each arm; nil if all are greedy
}

// Charged returns what the calls of the run cost under the rule that a page shows, and the size of the model that they
// are charged at; 0 for what the file does not say.
func (f *File) Charged() (active int64, worstCase float64) {
	var of struct {
		Active    float64 `json:"params_active"`
		WorstCase struct {
			Total float64 `json:"total_flops"`
		} `json:"worst_case"`
	}
	if json.Unmarshal(f.FLOPs, &of) != nil {
		return 0, 0
	}
	return int64(of.Active), of.WorstCase.Total
}

// lives are all incarnations of a run.
type lives struct {
	Lost      int `json:"lost_calls"`
	Aborted   int `json:"aborted_calls"`
	Unclaimed int `json:"unclaimed_calls"`
}

// An Arm is one search of a bandit.
type Arm struct {
	Seed       int64 `json:"seed"`
	Trajectory []Row `json:"trajectory"`
}

// A Row is one generation. Row 0 is the initial program.
type Row struct {
	Generation int      `json:"generation"`
	Best       *float64 `json:"best_fitness"`
	Width      int      `json:"width"`      // calls that it was granted; 0 if the file does not say
	Count      *int     `json:"n_children"` // nil if the file does not say
	Valid      int      `json:"n_valid"`
	Children   []Call   `json:"children"`
	Asides     []Call   `json:"asides"`
	Seconds    float64  `json:"gen_time_s"`
	Partial    bool     `json:"partial"` // cut short: the policy heard nothing of it
	Reason     string   `json:"reason"`
	Program    string   `json:"program"`
}

// A Call is a child, or a call beside the children.
type Call struct {
	Kind     string    `json:"kind"`         // of a call beside the children
	Child    int       `json:"child"`        // ID of the child in whose session that was made; 0 for none
	Status   *string   `json:"final_status"` // "" of a child that was made without a model; nil if the file does not say
	Attempts []Attempt `json:"attempts"`

	Index    int      `json:"idx"`
	ID       int      `json:"id"`
	Parents  []int    `json:"parents"`
	Operator string   `json:"operator"`
	Program  string   `json:"program"`
	Fitness  *float64 `json:"fitness"` // null without a program
	SD       float64  `json:"fitness_sd"`
	N        int      `json:"fitness_n"`
	Valid    bool     `json:"valid"`
	Reason   string   `json:"reason"`
	// Proposal has what else is told of a child. Where the fields above say it under the paper's names it is zero.
	books.Proposal
}

// An Attempt is one at a call.
type Attempt struct {
	Status          string  `json:"status"`
	Latency         float64 `json:"latency_s"`
	Usage           *usage  `json:"usage"`
	EstimatedOutput float64 `json:"estimated_output_tokens"`
	Unsent          bool    `json:"unsent"`
	Error           string  `json:"error"`
	Streamed        int     `json:"streamed_tokens"`
	EstimatedPrompt int     `json:"estimated_prompt_tokens"`
	Capped          bool    `json:"usage_capped"`
	Model           string  `json:"model"`
	Endpoint        string  `json:"endpoint"`
	Reported        bool    `json:"reported"`
	Money           float64 `json:"money"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// Read reads a file. Its errors have no prefix.
func Read(from io.Reader) (*File, error) {
	f := &File{}
	if err := json.NewDecoder(from).Decode(f); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, ErrEmpty
		}
		return nil, fmt.Errorf("not a result: %w", err)
	}
	return f, nil
}

// ErrEmpty says that a file has nothing in it.
var ErrEmpty = errors.New("the result is empty")

// Answered reports whether a model answered. Without a status a program tells that one did.
func (c Call) Answered() bool {
	if c.Status == nil {
		return c.Fitness != nil
	}
	return *c.Status == "ok"
}

// Before returns how many calls brought an answer before the first generation, of row 0.
func (row Row) Before() int { return answered(row.Asides) }

// Answered returns how many calls of a generation brought an answer, of a row after row 0. Where a file has no rows of
// children, their number counts, or the n that a generation is to have.
func (row Row) Answered(n int) int {
	sum := answered(row.Asides)
	switch {
	case row.Children != nil:
		return sum + answered(row.Children)
	case row.Count != nil:
		return sum + *row.Count
	}
	return sum + n
}

func answered(calls []Call) (n int) {
	for _, c := range calls {
		if c.Answered() {
			n++
		}
	}
	return n
}

// LLM returns the attempts as they were before they were reported.
func (c Call) LLM() []llm.Attempt {
	list := make([]llm.Attempt, len(c.Attempts))
	for i, a := range c.Attempts {
		status, kind, _ := strings.Cut(a.Status, ":")
		list[i] = llm.Attempt{Status: llm.Status(status), Kind: kind, Unsent: a.Unsent, Streamed: a.Streamed,
			Capped: a.Capped, Err: a.Error, Latency: time.Duration(a.Latency * float64(time.Second)), Model: a.Model,
			Endpoint: a.Endpoint, MaxTokens: int(a.EstimatedOutput), Reported: a.Reported,
			Money: a.Money, EstimatedPrompt: a.EstimatedPrompt}
		if a.Usage != nil {
			list[i].Usage = &llm.Usage{PromptTokens: a.Usage.Prompt, CachedTokens: a.Usage.Details.Cached,
				CompletionTokens: a.Usage.Completion}
		}
	}
	return list
}

// Rounds yields the generation of each round in order, with the arm that made it: nil for one that the file does not
// have. Of one search the arm is 0.
func (f *File) Rounds(yield func(arm int, row *Row) bool) {
	if f.Arms == nil {
		for i := 1; i < len(f.Trajectory); i++ {
			if !yield(0, &f.Trajectory[i]) {
				return
			}
		}
		return
	}
	made := make([]int, len(f.Arms))
	for _, arm := range f.Selections {
		var row *Row
		if arm >= 0 && arm < len(made) {
			if made[arm]++; made[arm] < len(f.Arms[arm].Trajectory) {
				row = &f.Arms[arm].Trajectory[made[arm]]
			}
		}
		if !yield(arm, row) {
			return
		}
	}
}

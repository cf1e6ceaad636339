package report

import (
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// A setting is what a search was run with. It is in each row of a bandit's arms too: read alone, a row would
// otherwise name neither its task nor its budget.
type setting struct {
	Kind      string `json:"search,omitempty"` // what kind of search it is; "" for a greedy one
	Task      string `json:"task"`
	Model     string `json:"model"`      // its key
	ModelName string `json:"model_name"` // what the endpoint calls it
	C         int    `json:"C"`          // calls, T·N
	T         int    `json:"T"`          // generations; with a breadth those that C calls would make if all had N
	N         int    `json:"N"`          // calls in a generation; with a breadth the most
	// Breadth is what decided how many calls each generation had; "" if N in each. The trajectory has each one's.
	Breadth string `json:"breadth,omitempty"`
	// [TiesTaken]; "" if the parent stays at a tie, or the search has a rule of its own
	Ties string `json:"ties,omitempty"`
}

// TiesTaken is what a file says of a search in which a child that scores as its parent takes its place.
const TiesTaken = "taken"

func newSetting(h Header, t int) setting {
	return setting{Kind: h.Kind, Task: h.Task, Model: h.Model.Key, ModelName: h.Model.Name, C: t * h.N, T: t, N: h.N,
		Breadth: h.breadth(), Ties: h.Ties}
}

// A Search is what one search found and cost.
type Search struct {
	Seed         int64              `json:"seed"`
	FinalFitness float64            `json:"final_fitness"`           // of the best program
	FinalSD      float64            `json:"final_sd,omitempty"`      // of the samples that it is the mean of
	FinalN       int                `json:"final_n,omitempty"`       // how many they are; 0 for one
	FinalMetrics map[string]float64 `json:"final_metrics"`           // of the best program; {} if it has none
	FinalProgram string             `json:"final_program,omitempty"` // its hash
	Trajectory   []generationRow    `json:"trajectory"`              // by generation, from 0
	FLOPs        Cost               `json:"flops"`
	Audit        *Audited           `json:"audit,omitempty"`      // nil if the search is not audited
	PerGen       []float64          `json:"flops_per_generation"` // by generation from 1, in the worst case
	// by what made the children; nil if nothing is named
	Operators map[string]Operator `json:"operators,omitempty"`
	Uses      map[string]Use      `json:"asides_by_kind,omitempty"` // calls beside the children
	// by what made the children; nil if nothing is named
	Ledgers Ledgers `json:"ledgers,omitempty"`
	Counts
}

func newSearch(arm evolve.ArmResult, a account, seed int64, m llm.Model) Search {
	r := Search{
		Seed:         seed,
		FinalFitness: arm.Best.Result.Score,
		FinalMetrics: arm.Best.Result.Metrics,
		FinalProgram: hash(arm.Best.Program),
		Trajectory:   []generationRow{startRow(arm)},
		FLOPs:        newCost(attempts(arm.EachCall), m.ActiveParams),
		Audit:        newAudited(arm),
		PerGen:       []float64{},
		Operators:    a.operators(),
		Uses:         byKind(arm),
		Ledgers:      a.ledgers(),
		Counts:       Count(arm.EachCall),
	}
	// An object even if it is empty: a script that looks for a metric in null fails.
	if r.FinalMetrics == nil {
		r.FinalMetrics = map[string]float64{}
	}
	r.FinalSD, r.FinalN = samplesOf(arm.Best.Result)
	for _, g := range arm.Generations {
		r.Trajectory = append(r.Trajectory, newGeneration(g))
		r.PerGen = append(r.PerGen, worstCase(g, m.ActiveParams))
	}
	return r
}

// worstCase returns the FLOPs of a generation with timeouts charged in full.
func worstCase(g evolve.Generation, active int64) float64 {
	return flops.Sum(attempts(g.EachCall), active, flops.WorstCase).TotalFLOPs
}

// An armRow is one of the searches of a [Bandit], with the fields that the file of a [Greedy] search has. Its T
// is the number of generations that it got, and its C the calls that they were granted: T·N without a breadth.
type armRow struct {
	setting
	Search
	// WallSeconds sums the time of its generations. Those of several arms can overlap.
	WallSeconds float64 `json:"wall_time_seconds"`
}

func newArm(arm evolve.ArmResult, of account, seed uint32, h Header) armRow {
	a := armRow{setting: newSetting(h, len(arm.Generations)), Search: newSearch(arm, of, int64(seed), h.Model)}
	granted := 0
	for _, g := range arm.Generations {
		a.WallSeconds += g.Elapsed.Seconds()
		granted += g.Width
	}
	if h.Breadth != nil {
		a.C = granted
	}
	return a
}

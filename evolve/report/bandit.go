package report

import (
	"fmt"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve"
)

// A Bandit is the result of a bandit over searches, in the form of the paper's files. Lists by round are in
// the order of draws, lists by arm in the arms' order. FLOPs by round are those of the worst case.
type Bandit struct {
	Task      string `json:"task"`
	Model     string `json:"model"`
	ModelName string `json:"model_name"`
	Active    int64  `json:"params_active"`
	Algo      string `json:"algo"`   // the policy's short name
	Policy    string `json:"policy"` // its description, with its parameters
	C         int    `json:"C"`      // the budget, T·N calls
	T         int    `json:"T_total"`
	N         int    `json:"N"`
	// what decided how many calls each round had, at most N; "" if N in each
	Breadth      string    `json:"breadth,omitempty"`
	Ties         string    `json:"ties,omitempty"` // as in setting
	Arms         int       `json:"n_arms"`
	ArmSeeds     []uint32  `json:"arm_seeds"`
	Kinds        []string  `json:"arm_searches,omitempty"` // what kind of search each arm is; nil if all are greedy
	BanditSeed   uint64    `json:"bandit_seed"`
	Selections   []int     `json:"selections"`
	Propensities []float64 `json:"propensities"`
	// that the round was granted; 0 if its search does not say how many it makes
	Granted        []int     `json:"calls_per_round"`
	Rewards        []float64 `json:"rewards"`
	RunningBest    []float64 `json:"running_best"` // of the run, when the round ended
	PerRound       []float64 `json:"flops_per_round"`
	Cumulative     []float64 `json:"cumulative_flops"` // with what was asked before the first round
	TotalWorstCase float64   `json:"total_flops_worst_case"`
	FLOPs          Cost      `json:"flops"`
	FinalFitness   float64   `json:"final_best_fitness"` // the best score of all
	BestArmSeed    uint32    `json:"best_arm_seed"`      // of the arm that found it
	ArmPulls       []int     `json:"arm_pulls"`
	ArmFitness     []float64 `json:"arm_final_fitness"`
	ArmResults     []armRow  `json:"arm_results"`
	Ledgers        Ledgers   `json:"ledgers,omitempty"` // of all arms together; nil if nothing is named
	Counts
	Total       *total      `json:"all_lives,omitempty"`
	Evaluations int         `json:"evaluations"`                // that were made, not those remembered
	Tuned       int         `json:"tune_evaluations,omitempty"` // that tuners made; they are not in Evaluations
	Stop        evolve.Stop `json:"stop"`
	Limit       string      `json:"limit,omitempty"` // the field of the Budget that bound if Stop is "budget"
	WallSeconds float64     `json:"wall_time_seconds"`
	Money       *float64    `json:"money,omitempty"` // cost of all calls, also of earlier incarnations; nil without prices
	// Fresh is what the best program scores on fresh samples, beside final_best_fitness; nil if the search is not noisy.
	Fresh   *Fresh   `json:"fresh,omitempty"`
	HeldOut *HeldOut `json:"held_out,omitempty"` // of the best program; nil unless [ScoreHeldOut] set it
}

// A BanditHeader is what the file of a bandit says of its run that an [evolve.Result] does not know.
type BanditHeader struct {
	Header
	Algo       string   // the policy's short name, as in the file's name
	Policy     string   // what the policy's String method returns
	BanditSeed uint64   // Config.Seed
	ArmSeeds   []uint32 // by arm
	// Kinds names what kind of search each arm is, as Header.Kind does; nil means that all are greedy.
	Kinds []string
}

// of returns the header of one arm.
func (h BanditHeader) of(arm int) Header {
	if h.Kinds != nil {
		h.Kind = h.Kinds[arm]
	}
	return h.Header
}

// NewBandit returns the report of a run. It panics unless h has a seed for every arm, and a name for every one or none.
func NewBandit(r *evolve.Result, h BanditHeader) Bandit {
	if len(h.ArmSeeds) != len(r.Arms) {
		panic(fmt.Sprintf("report: NewBandit with %d seeds for %d arms", len(h.ArmSeeds), len(r.Arms)))
	}
	if h.Kinds != nil && len(h.Kinds) != len(r.Arms) {
		panic(fmt.Sprintf("report: NewBandit with %d names of searches for %d arms", len(h.Kinds), len(r.Arms)))
	}
	h.Model = h.Model.WithDefaults()
	run, arms := accounts(r, h.Model.ActiveParams)
	b := Bandit{
		Task: h.Task, Model: h.Model.Key, ModelName: h.Model.Name, Active: h.Model.ActiveParams,
		Algo: h.Algo, Policy: h.Policy, C: h.T * h.N, T: h.T, N: h.N, Breadth: h.breadth(), Ties: h.Ties,
		Arms: len(r.Arms), ArmSeeds: h.ArmSeeds, Kinds: h.Kinds, BanditSeed: h.BanditSeed,
		FLOPs:        newCost(r.Attempts, h.Model.ActiveParams),
		FinalFitness: r.Best.Result.Score, BestArmSeed: h.ArmSeeds[r.BestArm],
		ArmPulls: make([]int, len(r.Arms)), Counts: Count(r.EachCall),
		Ledgers:     run.ledgers(),
		Total:       newTotal(r, h.Model),
		Evaluations: r.Evaluations,
		Tuned:       r.TuneEvaluations,
		Stop:        r.Stop, Limit: r.Limit, WallSeconds: r.Elapsed.Seconds(), Money: h.money(r), Fresh: newFresh(r),
	}
	b.addRounds(r)
	for i, arm := range r.Arms {
		b.ArmFitness = append(b.ArmFitness, arm.Best.Result.Score)
		b.ArmResults = append(b.ArmResults, newArm(arm, arms[i], h.ArmSeeds[i], h.of(i)))
	}
	return b
}

// addRounds fills in the lists by round. A round whose generation was cut short is among them: it was paid for.
// Cumulative ends with the whole. What was asked before the first round is in no PerRound. The lists are never null.
func (b *Bandit) addRounds(r *evolve.Result) {
	b.Selections, b.Granted, b.Propensities, b.Rewards = []int{}, []int{}, []float64{}, []float64{}
	b.RunningBest, b.PerRound, b.Cumulative = []float64{}, []float64{}, []float64{}
	for _, arm := range r.Arms { // what was asked before the first round, to score the initial program say
		b.TotalWorstCase += worstCase(evolve.Generation{Asides: arm.Asides}, b.Active)
	}
	for _, round := range r.Rounds {
		arm := round.Pull.Arm
		cost := worstCase(r.Arms[arm].Generations[round.Generation], b.Active)
		b.TotalWorstCase += cost
		b.ArmPulls[arm]++
		b.Selections = append(b.Selections, arm)
		b.Propensities = append(b.Propensities, round.Pull.Prob)
		b.Granted = append(b.Granted, round.Pull.Calls)
		b.Rewards = append(b.Rewards, round.Reward)
		b.RunningBest = append(b.RunningBest, round.Best)
		b.PerRound = append(b.PerRound, cost)
		b.Cumulative = append(b.Cumulative, b.TotalWorstCase)
	}
}

// Path returns where the paper keeps such a file under a folder of results:
// bandit/TASK/MODEL/<algo>_C<C>_T<T>_K<arms>_seed<bandit seed>.json. A breadth is named after K, as in K10_adaptive.
// With searches of several kinds the first folder is portfolio.
func (b Bandit) Path() string {
	return banditPath(b.Kinds, b.Task, b.Model, b.Algo, b.C, b.T, b.Arms, b.Breadth, b.BanditSeed)
}

// Path returns the Path of the [Bandit] of a run that is not made yet. A program can then check that it can write
// there, and that no earlier result is there, before anything is paid for.
func (h BanditHeader) Path() string {
	return banditPath(h.Kinds, h.Task, h.Model.Key, h.Algo, h.T*h.N, h.T, len(h.ArmSeeds), h.breadth(), h.BanditSeed)
}

func banditPath(kinds []string, task, model, algo string, c, t, arms int, breadth string, seed uint64) string {
	folder := "bandit"
	if kinds != nil {
		folder = "portfolio"
	}
	return filepath.Join(folder, task, model, fmt.Sprintf("%s_C%d_T%d_K%d%s_seed%d.json", algo, c, t, arms,
		breadthTag(breadth), seed))
}

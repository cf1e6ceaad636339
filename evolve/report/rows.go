package report

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// NewGreedy returns the result of a run of one search with the given seed. It panics unless r has one arm.
func NewGreedy(r *evolve.Result, h Header, seed uint32) Greedy {
	if len(r.Arms) != 1 {
		panic(fmt.Sprintf("report: NewGreedy of a run with %d arms: need 1", len(r.Arms)))
	}
	b := newBandit(r, BanditHeader{Header: h, ArmSeeds: []uint32{seed}})
	b.Selections = make([]int, len(r.Arms[0].Generations))
	b.Sum()
	return Greedy{Setting: h.setting(h.T), Search: b.ArmResults[0].Search, Outcome: b.Outcome}
}

// NewBandit returns the result of a run. It panics unless h has a seed for every arm, and a name for every one or none.
func NewBandit(r *evolve.Result, h BanditHeader) Bandit {
	if len(h.ArmSeeds) != len(r.Arms) {
		panic(fmt.Sprintf("report: NewBandit with %d seeds for %d arms", len(h.ArmSeeds), len(r.Arms)))
	}
	if h.Kinds != nil && len(h.Kinds) != len(r.Arms) {
		panic(fmt.Sprintf("report: NewBandit with %d names of searches for %d arms", len(h.Kinds), len(r.Arms)))
	}
	b := newBandit(r, h)
	b.Sum()
	return b
}

// newBandit returns the file without its sums.
func newBandit(r *evolve.Result, h BanditHeader) Bandit {
	h.Model = h.Model.WithDefaults()
	b := h.bandit()
	b.FinalFitness, b.BestArmSeed = r.Best.Result.Score, b.ArmSeeds[r.BestArm]
	// lists are never null
	b.Selections, b.Granted, b.Propensities, b.Rewards = []int{}, []int{}, []float64{}, []float64{}
	b.RunningBest, b.PerRound, b.Cumulative = []float64{}, []float64{}, []float64{}
	b.Outcome = result.Outcome{Total: newLives(r, h.Model), Evaluations: r.Evaluations, Tuned: r.TuneEvaluations,
		Stop: string(r.Stop), Limit: r.Limit, WallSeconds: r.Elapsed.Seconds(), Money: h.money(r), Fresh: newFresh(r)}
	// A round whose generation was cut short is among them: it was paid for.
	for _, round := range r.Rounds {
		b.Selections = append(b.Selections, round.Pull.Arm)
		b.Propensities = append(b.Propensities, round.Pull.Prob)
		b.Granted = append(b.Granted, round.Pull.Calls)
		b.Rewards = append(b.Rewards, round.Reward)
		b.RunningBest = append(b.RunningBest, round.Best)
	}
	for i, arm := range r.Arms {
		b.ArmFitness = append(b.ArmFitness, arm.Best.Result.Score)
		b.ArmResults = append(b.ArmResults, newArm(arm, h, i))
	}
	return b
}

func newArm(arm evolve.ArmResult, h BanditHeader, i int) result.Arm {
	if h.Kinds != nil {
		h.Kind = h.Kinds[i]
	}
	best := arm.Best.Result
	a := result.Arm{Setting: h.setting(len(arm.Generations)), Search: result.Search{Seed: int64(h.ArmSeeds[i]),
		FinalFitness: best.Score, FinalMetrics: best.Metrics, FinalProgram: hash(arm.Best.Program),
		Trajectory: []result.Generation{startRow(arm)}, Audit: newAudited(arm), PerGen: []float64{}}}
	if a.FinalMetrics == nil {
		a.FinalMetrics = map[string]float64{} // a script that looks for a metric in null fails
	}
	a.FinalSD, a.FinalN = samplesOf(best)
	granted := 0
	for _, g := range arm.Generations {
		a.Trajectory = append(a.Trajectory, newGeneration(g))
		a.WallSeconds += g.Elapsed.Seconds()
		granted += g.Width
	}
	if h.Breadth != nil {
		a.C = granted
	}
	return a
}

// startRow returns row 0 of a trajectory. It has one for an arm that was never drawn too, so that a reader can
// always compare with the beginning.
func startRow(arm evolve.ArmResult) result.Generation {
	row := result.Generation{BestFitness: new(arm.Start.Result.Score), Count: new(int), Children: []result.Child{},
		Asides: newAsides(arm.Asides), Program: hash(arm.Start.Program)}
	if arm.Start.Result.Valid {
		row.Valid = 1
	} else {
		row.Reason = arm.Start.Result.Reason
	}
	return row
}

// hash names a program as journals do, "" for none.
func hash(program string) string {
	if program == "" {
		return ""
	}
	return record.KeyOf(program).String()
}

func newGeneration(g evolve.Generation) result.Generation {
	row := result.Generation{
		Generation:    g.Index,
		BestFitness:   new(g.Best.Result.Score),
		ParentFitness: new(g.Before.Result.Score),
		Width:         g.Width,
		Count:         new(len(g.Children)),
		Children:      make([]result.Child, len(g.Children)),
		Asides:        newAsides(g.Asides),
		Evaluations:   g.Evaluations,
		Tuned:         g.TuneEvaluations,
		Seconds:       g.Elapsed.Seconds(),
		Lenient:       lenient(g),
		Partial:       g.Partial,
	}
	row.BestSD, row.BestN = samplesOf(g.Best.Result)
	for _, a := range g.Audits {
		row.Audits = append(row.Audits, newAudit(a))
	}
	for i, c := range g.Children {
		row.Children[i] = newChild(c)
		if c.Scored() && c.Result.Valid {
			row.Valid++
		}
		if c.Scored() && c.Better(g.Before) {
			row.Improved++
		}
	}
	return row
}

func newChild(c evolve.Child) result.Child {
	attempts := result.Attempts(c.Attempts)
	row := result.Child{Index: c.Index, ID: c.ID, Parents: c.Parents, Operator: c.Operator, Program: c.Hash, Seed: c.Seed,
		Valid: c.Result.Valid, Reason: c.Err, Mended: c.Mended, Duplicate: c.Duplicate, Attempts: attempts,
		FinalStatus: attempts.FinalStatus(), Labels: c.Labels, Proposal: c.Proposal()}
	p := &row.Proposal
	p.Score, p.SD, p.Samples, p.State, p.Labels = 0, 0, 0, "", nil
	if c.Scored() {
		row.Fitness, row.Reason = new(c.Result.Score), c.Result.Reason
		row.SD, row.N = samplesOf(c.Result)
	}
	return row
}

func newAsides(calls []evolve.Call) (rows []result.Aside) {
	for _, c := range calls {
		attempts := result.Attempts(c.Attempts)
		rows = append(rows, result.Aside{Kind: c.Kind, Child: c.Child, Attempts: attempts, FinalStatus: attempts.FinalStatus()})
	}
	return rows
}

func newAudit(a eval.Audit) result.Audit {
	row := result.Audit{Program: hash(a.Program), Score: a.Result.Score, Demoted: a.Demoted, Reason: a.Second.Reason}
	if a.Second.Valid {
		row.Audited = new(a.Second.Score)
	}
	if gap, ok := a.Gap(); ok {
		row.Gap = &gap
	}
	if a.Demoted {
		row.Reason = a.Why
	}
	return row
}

// newAudited sums the audits of a search. It returns nil if it is not audited.
func newAudited(arm evolve.ArmResult) *result.Audited {
	var sum result.Audited
	for _, g := range arm.Generations {
		for _, a := range g.Audits {
			row := newAudit(a)
			if sum.Audits++; sum.Audits == 1 {
				sum.Start = &row
			}
			if a.Demoted {
				sum.Demoted++
			}
			if a.Program == arm.Best.Program && !a.Demoted {
				sum.Final = &row
			}
		}
	}
	if sum.Audits == 0 {
		return nil
	}
	return &sum
}

// lenient reports whether the best of g is better than the one before it, and is not without a tolerance.
func lenient(g evolve.Generation) bool {
	strict := func(c eval.Candidate) eval.Candidate { return eval.Candidate{Result: c.Result.Strict()} }
	return g.Best.Better(g.Before) && !strict(g.Best).Better(strict(g.Before))
}

// newFresh returns nil for a search that is not noisy.
func newFresh(r *evolve.Result) *result.Fresh {
	if r.Fresh == nil && r.Unconfirmed == "" {
		return nil
	}
	f := &result.Fresh{Reason: r.Unconfirmed}
	if r.Fresh != nil {
		f.Score, f.N = r.Fresh.Score, r.Fresh.N()
		f.SD, _ = samplesOf(*r.Fresh)
		if !r.Fresh.Valid {
			f.N, f.Reason = 0, r.Fresh.Reason
		}
	}
	return f
}

// samplesOf returns the standard deviation and number of a result's samples, 0 and 0 for a single one.
func samplesOf(r eval.Result) (sd float64, n int) {
	if r.Samples == nil {
		return 0, 0
	}
	return r.Samples.SD, r.Samples.N
}

// unknownEndpoint stands for the endpoints of lost calls that name none.
const unknownEndpoint = "unknown"

// newLives returns nil if the result holds every call of the run.
func newLives(r *evolve.Result, m llm.Model) *result.Lives {
	e := r.Earlier
	if len(e.Lost)+len(e.Abandoned)+len(e.Unclaimed) == 0 {
		return nil
	}
	calls := paid(r, m.MaxTokens)
	return &result.Lives{
		Lost: len(e.Lost), Aborted: len(e.Abandoned), Unclaimed: len(e.Unclaimed),
		FLOPs: result.NewCost(result.Each(calls), m.ActiveParams), Counts: result.Count(calls),
	}
}

// paid yields the calls of a run, also those of its earlier incarnations. A lost call has one attempt, with maxTokens if
// it has no cap of its own.
func paid(r *evolve.Result, maxTokens int) iter.Seq[[]llm.Attempt] {
	calls := slices.AppendSeq([][]llm.Attempt{}, r.EachCall)
	calls = slices.Concat(calls, r.Earlier.Abandoned, r.Earlier.Unclaimed)
	for _, a := range r.Earlier.Lost {
		a.MaxTokens, a.Endpoint = cmp.Or(a.MaxTokens, maxTokens), cmp.Or(a.Endpoint, unknownEndpoint)
		calls = append(calls, []llm.Attempt{a})
	}
	return slices.Values(calls)
}

package result

import (
	"fmt"
	"iter"

	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// Sum fills in the sums of a file that has its rows, its lists by round and Active. What a search had before a
// step is known by its rows alone, as to a reader of the journal, so that a page of the journal says the same.
func (b *Bandit) Sum() {
	run, err := b.History()
	if err != nil {
		panic(fmt.Sprintf("result: Sum of a file without its rows: %v", err))
	}
	active := b.Active
	b.FLOPs, b.Counts, b.Totals = NewCost(Each(b.EachCall), active), Count(b.EachCall), totalsOf(run, -1)
	b.ArmPulls = make([]int, len(b.ArmResults))
	b.PerRound, b.Cumulative, b.TotalWorstCase = nil, nil, 0 // so that to sum twice is to sum once
	for i := range b.ArmResults {
		a := &b.ArmResults[i]
		a.sum(run, i, active)
		b.TotalWorstCase += worstCase(Each(calls(a.Trajectory[:1])), active) // what was asked before the first round
	}
	for _, arm := range b.Selections {
		cost := b.ArmResults[arm].PerGen[b.ArmPulls[arm]]
		b.TotalWorstCase += cost
		b.ArmPulls[arm]++
		b.PerRound, b.Cumulative = append(b.PerRound, cost), append(b.Cumulative, b.TotalWorstCase)
	}
}

// sum fills in the sums of the search that is the i-th of a run.
func (s *Search) sum(run *history.Run, i int, active int64) {
	each := calls(s.Trajectory)
	s.PerGen, s.Uses = nil, nil
	s.FLOPs, s.Counts, s.Totals = NewCost(Each(each), active), Count(each), totalsOf(run, i)
	for g := range s.Trajectory[1:] {
		s.PerGen = append(s.PerGen, worstCase(Each(calls(s.Trajectory[g+1:g+2])), active))
	}
	if sums := run.Sums(i); sums.Named {
		s.Operators = map[string]Operator{}
		for _, t := range sums.By(history.ByOperator) {
			s.Operators[t.Name] = Operator{t.Children, t.Cost.Calls, t.Valid, t.Improved, t.Cost.Tokens}
		}
	}
	for g := range s.Trajectory {
		for _, c := range s.Trajectory[g].Asides {
			if s.Uses == nil {
				s.Uses = map[string]Use{}
			}
			u, cost := s.Uses[c.Kind], history.Prices(nil).Call(c.Attempts)
			s.Uses[c.Kind] = Use{u.Calls + cost.Calls, u.Tokens.Plus(cost.Tokens)}
		}
	}
}

// EachCall yields the attempts of every call of the file's rows, arm by arm.
func (b *Bandit) EachCall(yield func([]llm.Attempt) bool) {
	for i := range b.ArmResults {
		for call := range calls(b.ArmResults[i].Trajectory) {
			if !yield(call) {
				return
			}
		}
	}
}

// calls yields the attempts of every call of generations: of each the children's, and then those beside them.
func calls(rows []Generation) iter.Seq[[]llm.Attempt] {
	return func(yield func([]llm.Attempt) bool) {
		for i := range rows {
			for k := range rows[i].Children {
				if c := &rows[i].Children[k]; len(c.Attempts) > 0 && !yield(c.Attempts) {
					return
				}
			}
			for _, c := range rows[i].Asides {
				if !yield(c.Attempts) {
					return
				}
			}
		}
	}
}

// Each yields every attempt of calls.
func Each(calls iter.Seq[[]llm.Attempt]) iter.Seq[llm.Attempt] {
	return func(yield func(llm.Attempt) bool) {
		for call := range calls {
			for _, a := range call {
				if !yield(a) {
					return
				}
			}
		}
	}
}

// NewCost charges attempts under each rule. active is the size of the model of those that name none.
func NewCost(attempts iter.Seq[llm.Attempt], active int64) Cost {
	return Cost{
		Active:    active,
		WorstCase: flops.Sum(attempts, active, flops.WorstCase),
		Exclude:   flops.Sum(attempts, active, flops.Exclude),
		Bounded:   flops.Sum(attempts, active, flops.Bounded),
		Observed:  flops.Sum(attempts, active, flops.Observed),
	}
}

// worstCase returns the FLOPs of attempts with timeouts charged in full.
func worstCase(attempts iter.Seq[llm.Attempt], active int64) float64 {
	return flops.Sum(attempts, active, flops.WorstCase).TotalFLOPs
}

// Summaries returns the summaries, in the order of [flops.Rules].
func (c Cost) Summaries() []flops.Summary {
	return []flops.Summary{c.WorstCase, c.Exclude, c.Bounded, c.Observed}
}

// Count counts calls, each given by its attempts, as evolve.Result.EachCall yields them.
func Count(calls iter.Seq[[]llm.Attempt]) Counts {
	t := history.Prices(nil).Tally(calls)
	c := Counts{Calls: t.Calls, Attempts: t.Attempts, Tokens: map[llm.Class]history.Tokens{},
		Endpoints: map[string]Endpoint{}}
	total := 0
	for _, class := range llm.Classes() { // also those with 0, so that a reader need not know which may be missing
		c.Calls[class] += 0
		c.Attempts[class] += 0
		c.Tokens[class] = t.Classes[class].Tokens
		total += c.Attempts[class]
	}
	if total > 0 {
		c.StallRate = float64(c.Attempts[llm.Stall]) / float64(total)
	}
	for name, e := range t.ByEndpoint {
		all := 0
		for _, n := range e.Attempts {
			all += n
		}
		c.Endpoints[name] = Endpoint{all, e.Attempts[llm.Real], e.Attempts[llm.Stall], e.Attempts[llm.Errored],
			float64(e.Attempts[llm.Stall]) / float64(all), e.OverCap}
	}
	return c
}

// totalsOf returns the rows of a run, or of one of its arms, nil if children name nothing but one model. Places in an
// arm have the number 0.
func totalsOf(run *history.Run, arm int) Totals {
	sums, all := run.Sums(arm), Totals{}
	for _, kind := range history.Kinds() {
		for _, t := range sums.By(kind) {
			row := Total{Children: t.Children, Calls: t.Cost.Calls, Valid: t.Valid, FLOPs: t.Cost.FLOPs, Improved: t.Improved,
				Lift: t.Lifts.In(sums.All.Lifts), Lifted: t.Lifts.N}
			if t.Last >= 0 {
				c := &run.Children[t.Last]
				row.Last = &Place{Generation: c.Step, Index: c.Index}
				if arm < 0 {
					row.Last.Arm = c.Arm
				}
			}
			if all[kind] == nil {
				all[kind] = map[string]Total{}
			}
			all[kind][t.Name] = row
		}
	}
	others := len(all) // kinds beside the operator, which is the same of all, and the only model
	if _, ok := all[history.ByOperator]; ok {
		others--
	}
	if len(all[history.ByModel]) == 1 {
		others--
	}
	if !sums.Named && others == 0 {
		return nil
	}
	return all
}

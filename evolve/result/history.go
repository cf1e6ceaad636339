package result

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// mostArms bounds the searches of a file, as history bounds those of a journal.
const mostArms = 1 << 16

// History returns what a file tells of its run. It has no times, only how long each generation took, and no labels of
// children. Generations of arms that were in flight at once come one after the other. What else the file does not say,
// such as the paper's rewards, is 0. It returns an error if the file lacks a search's trajectory, or a generation that a
// round made.
func (b *Bandit) History() (*history.Run, error) {
	if len(b.ArmResults) == 0 || slices.ContainsFunc(b.ArmResults, func(a Arm) bool { return len(a.Trajectory) == 0 }) {
		return nil, errors.New("it is no result file: it has no search with a trajectory")
	}
	if len(b.ArmResults) > mostArms {
		return nil, fmt.Errorf("it is no result file: it has %d searches, and %d are the most", len(b.ArmResults), mostArms)
	}
	run, add := history.New(nil, nil)
	children := 0
	for i := range b.ArmResults {
		for g := range b.ArmResults[i].Trajectory {
			children += len(b.ArmResults[i].Trajectory[g].Children)
		}
	}
	run.Children = make([]history.Child, 0, children)
	t := teller{Bandit: b, run: run, add: add, now: 1}
	t.begin()
	round := 0
	for arm, row := range b.Rounds {
		if row == nil {
			return nil, fmt.Errorf("it is no result file: round %d is of search %d, which has no generation for it", round, arm)
		}
		t.round(round, arm, row)
		round++
	}
	run.Evaluated, run.Tuned = b.Evaluations, b.Tuned
	run.Ending = history.Ending{Stop: b.Stop, Limit: b.Limit}
	if b.Stop == "error" {
		run.Why = "its result does not say which"
	}
	if b.Total != nil {
		run.Lost = b.Total.Lost
		if n := b.Total.Aborted + b.Total.Unclaimed; n > 0 {
			run.Notes = append(run.Notes, &history.Note{Time: run.Clock.Now(), Kind: "abandoned", Count: 1,
				Text: fmt.Sprintf("calls of earlier processes were paid for and are in no sum here, but in all_lives of the "+
					"result: %d", n)})
		}
	}
	// The file has the size of one model: where others were asked, its own sum is the right one.
	run.Spent.FLOPs = cmp.Or(max(b.FLOPs.WorstCase.TotalFLOPs, 0), run.Spent.FLOPs)
	return run, nil
}

// A teller tells history of a file in the records that a journal of its run would have.
type teller struct {
	*Bandit
	run   *history.Run
	add   func(record.Record) (row int)
	now   int64 // milliseconds, from 1
	calls int   // told of
}

func (t *teller) tell(r record.Record) (row int) {
	r.Time = t.now
	return t.add(r)
}

// begin tells of the run and what its arms begin with.
func (t *teller) begin() {
	header, given := journal.Fingerprint{"task": t.Task, "model": t.Model},
		journal.Fingerprint{"policy": t.Policy, "arms": fmt.Sprint(len(t.ArmResults))}
	if t.Algo != "" {
		header["search"] = t.Algo
	}
	if t.C > 0 {
		given["Budget.Calls"] = fmt.Sprint(t.C)
	}
	arms := make([]record.Arm, len(t.ArmResults))
	for i, seed := range t.ArmSeeds[:min(len(t.ArmSeeds), len(arms))] {
		if of := uint32(seed); int64(of) == seed {
			arms[i].Seed = &of
		}
	}
	t.tell(record.Record{Kind: record.Header, Fingerprint: header})
	t.tell(record.Record{Kind: record.Run, Fingerprint: given, Arms: arms,
		Models: []record.Model{{Key: t.Model, Name: t.ModelName, ActiveParams: t.FLOPs.Active}}})
	for i := range t.ArmResults {
		start := &t.ArmResults[i].Trajectory[0]
		told := books.Proposal{Reason: start.Reason}
		if start.BestFitness != nil {
			told.Score, told.Valid = *start.BestFitness, start.Valid > 0
		}
		t.tell(record.Record{Kind: record.Start, Arm: &i, Program: start.Program, Proposal: told})
		for _, c := range start.Asides {
			t.call(-1, c.Kind, c.Attempts)
		}
	}
}

// round tells of a generation, from its draw to its reward.
func (t *teller) round(round, arm int, row *Generation) {
	t.tell(record.Record{Kind: record.Draw, Pull: &round, Arm: &arm, Prob: at(t.Propensities, round, 1), Calls: row.Width})
	t.now += int64(max(row.Seconds, 0) * 1000)
	born := map[int]int{}
	for i := range row.Children {
		c := &row.Children[i]
		born[c.ID] = t.tell(record.Record{Kind: record.Child, N: t.call(round, "", c.Attempts), Pull: &round, Child: &c.Index,
			Step: row.Generation, Program: c.Program, Proposal: c.proposal()})
	}
	for _, c := range row.Asides {
		t.call(round, c.Kind, c.Attempts)
		if i, ok := born[c.Child]; ok && c.Child > 0 {
			child := &t.run.Children[i]
			child.Cost = child.Cost.Plus(history.Prices(t.run.Models).Call(c.Attempts))
			child.Model = cmp.Or(history.ModelOf(c.Attempts), child.Model)
		}
	}
	if !row.Partial {
		t.tell(record.Record{Kind: record.Report, Pull: &round, Reward: at(t.Rewards, round, 0)})
	}
	r := &t.run.Rounds[round]
	r.Answered, r.Seconds, r.Cost.FLOPs = row.Answered(t.N), row.Seconds, at(t.PerRound, round, r.Cost.FLOPs)
	if row.BestFitness != nil {
		r.Score = *row.BestFitness
	}
}

// call tells of a call, and returns the number that its child's record names, 0 without attempts.
func (t *teller) call(round int, kind string, attempts Attempts) (number int) {
	if len(attempts) == 0 {
		return 0
	}
	t.calls++
	r := record.Record{Kind: record.Completion, N: t.calls, Pull: &round, For: kind, Reply: &llm.Reply{Attempts: attempts}}
	switch llm.ClassOf(attempts) {
	case llm.Abandoned:
		r.Kind = record.Abandoned
	case llm.Stall, llm.Errored:
		r.Kind = record.Failure
	}
	if r.Kind != record.Completion {
		r.Error = &llm.ErrorRecord{Text: attempts[len(attempts)-1].Err}
	}
	t.tell(r)
	return t.calls
}

// at returns the element of a list, or what stands for one that is not there.
func at(list []float64, i int, without float64) float64 {
	if i < len(list) {
		return list[i]
	}
	return without
}

// proposal returns what is told of the child, with what stands under the paper's names in a file.
func (c *Child) proposal() books.Proposal {
	p := c.Proposal
	p.ID, p.Parents, p.Operator, p.Reason, p.Labels = c.ID, c.Parents, c.Operator, c.Reason, c.Labels
	p.State, p.Valid = books.StateUnparsed, c.Valid && c.Fitness != nil
	switch status := cmp.Or(c.FinalStatus, new(string)); {
	case p.Valid:
		p.State, p.Score, p.SD, p.Samples = books.StateValid, *c.Fitness, c.SD, c.N
	case c.Fitness != nil:
		p.State = books.StateInvalid
	case *status == string(llm.Canceled):
		p.State = books.StateAbandoned
	case len(c.Attempts) > 0 && *status != string(llm.OK):
		p.State = books.StateFailed
	}
	return p
}

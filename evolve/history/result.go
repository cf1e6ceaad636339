package history

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/internal/resultfile"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// Read returns what a file tells of a run: a journal, or a result of this library or of the BaSE paper's code, one
// search or a bandit over several. It tells them apart by what is in the file. The journal may be of a run that is
// over, was killed, or goes on.
//
// A result does not say when what ended, only how long each generation took. Those of arms that were in flight at once
// come one after the other. It has no labels of children. If a journal is damaged, the Run is what stands before that,
// and err is not nil.
func Read(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	defer f.Close()
	b := NewBuilder()
	if isResult(f) {
		if err := b.AddResult(f); err != nil {
			return nil, fmt.Errorf("history: %s: %w", path, err)
		}
		return b.whole(), nil
	}
	for r, err := range record.Read(path) {
		if err != nil {
			return b.whole(), err
		}
		b.Add(r)
	}
	if b.records == 0 {
		return nil, fmt.Errorf("history: %s has no whole record: it is not a journal, or was only just begun", path)
	}
	return b.whole(), nil
}

// isResult reports whether the file begins as a JSON object that is not a record of a journal.
func isResult(f io.ReadSeeker) bool {
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	f.Seek(0, io.SeekStart)
	for i, c := range head[:n] {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return !bytes.HasPrefix(head[i:n], []byte(`{"i":`))
		}
		return false
	}
	return false
}

// AddResult takes in a result, which tells of a whole run. It returns an error if it is something else. What the result
// does not say, such as its rewards, is 0.
func (b *Builder) AddResult(from io.Reader) error {
	f, err := resultfile.Read(bufio.NewReader(from))
	if err != nil {
		return fmt.Errorf("it is no result file: %w", err)
	}
	if f.Arms == nil {
		f.Arms, f.PerRound = []resultfile.Arm{{Seed: f.Seed, Trajectory: f.Trajectory}}, f.PerGen
		f.Selections, f.Algo = make([]int, max(0, len(f.Trajectory)-1)), f.Search
	}
	if len(f.Arms) == 0 || slices.ContainsFunc(f.Arms, func(a resultfile.Arm) bool { return len(a.Trajectory) == 0 }) {
		return errors.New("it is no result file: it has no search with a trajectory")
	}
	if len(f.Arms) > mostArms {
		return fmt.Errorf("it is no result file: it has %d searches, and %d are the most", len(f.Arms), mostArms)
	}
	run := &b.run
	run.Header = journal.Fingerprint{"task": f.Task, "model": f.Model}
	if f.Algo != "" {
		run.Header["search"] = f.Algo
	}
	run.Given = journal.Fingerprint{"policy": f.Policy, "arms": fmt.Sprint(len(f.Arms))}
	if f.C > 0 {
		run.Given["Budget.Calls"] = fmt.Sprint(int64(f.C))
	}
	active, charged := f.Charged()
	run.Models = []llm.Model{{Key: f.Model, Name: f.ModelName, ActiveParams: active}}
	run.Runs = 1
	run.Clock = Clock{Begun: 1, Last: 1}
	b.resultArms(f)
	if err := b.resultRounds(f); err != nil {
		return err
	}
	run.Evaluated, run.Tuned = f.Evaluations, f.Tuned
	if f.Lives != nil {
		run.Lost = f.Lives.Lost
		if n := f.Lives.Aborted + f.Lives.Unclaimed; n > 0 {
			b.note("abandoned", fmt.Sprintf("calls of earlier processes were paid for and are in no sum here, but in "+
				"all_lives of the result: %d", n))
		}
	}
	b.total(charged)
	run.Ending = Ending{Stop: f.Stop, Limit: f.Limit}
	if f.Stop == stopError {
		run.Why = "its result does not say which"
	}
	if f.Stop != "" { // a file of the paper's code does not say
		kind := "stop"
		if run.CanGoOn() {
			kind = "pause"
		}
		b.note(kind, run.Words(b.Limits))
	}
	return nil
}

func (b *Builder) resultArms(f *resultfile.File) {
	for i, arm := range f.Arms {
		start := arm.Trajectory[0]
		s := Start{Program: start.Program, Reason: start.Reason}
		if start.Best != nil {
			s.Score = Score{*start.Best, start.Valid > 0}
		}
		at := b.arm(i)
		if i < len(f.ArmSeeds) && f.ArmSeeds[i] == int64(uint32(f.ArmSeeds[i])) {
			seed := uint32(f.ArmSeeds[i])
			b.run.Arms[at].Seed = &seed
		}
		b.begins(at, s)
		for _, c := range start.Asides {
			b.attempts(-1, c.LLM())
		}
	}
}

// resultRounds takes in the generations in the order of rounds.
func (b *Builder) resultRounds(f *resultfile.File) error {
	run, round, seconds := &b.run, -1, 0.0
	for arm, row := range f.Rounds {
		round++
		switch {
		case arm < 0 || arm >= len(f.Arms):
			return fmt.Errorf("round %d is of search %d, and it has %d", round, arm, len(f.Arms))
		case row == nil:
			return fmt.Errorf("round %d is of search %d, which has no generation for it", round, arm)
		}
		draw := record.Record{Pull: &round, Arm: &arm, Prob: finite(at(f.Propensities, round, 1)), Calls: row.Width}
		b.draw(draw)
		seconds += max(row.Seconds, 0)
		run.Clock.Last = 1 + int64(seconds*1000)
		born := map[int]int{}
		for _, c := range row.Children {
			born[c.ID] = b.resultChild(c, round, row.Generation)
		}
		for _, c := range row.Asides {
			e := b.attempts(round, c.LLM())
			if at, ok := born[c.Child]; ok && c.Child > 0 && at >= 0 {
				child := &run.Children[at]
				child.Cost, child.Model = child.Cost.Plus(e.cost), cmp.Or(e.model, child.Model)
			}
		}
		if !row.Partial {
			b.report(record.Record{Pull: &round, Reward: finite(at(f.Rewards, round, 0))})
		}
		r := &run.Rounds[round]
		r.Answered, r.Seconds, r.Cost.FLOPs = row.Answered(f.N), row.Seconds, finite(at(f.PerRound, round, r.Cost.FLOPs))
		if row.Best != nil {
			r.Score = *row.Best
		}
	}
	return nil
}

// at returns the element of a list, or what stands for one that is not there.
func at(list []float64, i int, without float64) float64 {
	if i < len(list) {
		return list[i]
	}
	return without
}

// resultChild takes in a child and its call, and returns its row.
func (b *Builder) resultChild(c resultfile.Call, round, step int) int {
	status := ""
	if c.Status != nil {
		status = *c.Status
	}
	state := books.StateUnparsed
	valid := c.Valid && c.Fitness != nil
	switch {
	case valid:
		state = books.StateValid
	case c.Fitness != nil:
		state = books.StateInvalid
	case status == string(llm.Canceled):
		state = books.StateAbandoned
	case len(c.Attempts) > 0 && status != string(llm.OK):
		state = books.StateFailed
	}
	p := c.Proposal
	p.ID, p.Parents, p.Operator, p.State = c.ID, c.Parents, c.Operator, state
	p.Valid, p.Score, p.SD, p.Samples, p.Reason, p.Labels = valid, 0, 0, 0, c.Reason, nil
	if valid {
		p.Score, p.SD, p.Samples = *c.Fitness, c.SD, c.N
	}
	r := record.Record{Kind: record.Child, Pull: &round, Child: &c.Index, Step: step, Program: c.Program, Proposal: p}
	return b.made(r, c.LLM())
}

// total sets the sum of FLOPs to the file's own. The file has the size of one model. Where others were asked, what a
// class of calls cost is not known, and the calls of children are charged at that one size.
func (b *Builder) total(flops float64) {
	run := &b.run
	if flops <= 0 || math.Abs(run.Spent.FLOPs-flops) <= 1e-9*flops {
		return
	}
	run.Spent.FLOPs = flops
	for class, sum := range run.Classes {
		sum.FLOPs = 0
		run.Classes[class] = sum
	}
}

package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	shared "github.com/evoalloc/evoalloc/evolve/internal/ledgers"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// fromResult returns what a page shows of a result file of evolve/report: see [ReadResult]. It fails if data is something
// else.
func fromResult(id, name string, data []byte) (runState, error) {
	b, err := parseResult(data)
	if err != nil {
		return runState{}, err
	}
	t := teller{log: newLog(id, name)}
	t.result(b)
	s := t.log.State(rowCursor{})
	s.Texts = strings.TrimSuffix(short(name), ".json") + ".journal"
	if len(s.Line) > 0 { // it begins with the initial program, of which the file has the score alone
		arm := s.Line[0].Arm
		first := lineStep{Row: -1, Arm: arm, Score: t.log.arms[arm].start.score, Operator: "initial", Diff: []lineChange{}}
		s.Line = append([]lineStep{first}, s.Line...)
	}
	s.Facts = append(s.Facts, auditFacts(b)...)
	s.Ledgers = append(s.Ledgers, fileLedgers(b.Ledgers)...)
	if b.Fresh != nil {
		s.Facts = append(s.Facts, freshFact(b))
	}
	if b.HeldOut != nil {
		s.Facts = append(s.Facts, heldOutFact(b.HeldOut))
	}
	return s, nil
}

// fileLedgers returns the ledgers of labels, which the rows of children in a file do not have. By which call the last
// improvement came is not in them.
func fileLedgers(of report.Ledgers) (list []ledgerTable) {
	for _, kind := range shared.Labels() {
		l := ledgerTable{Kind: kind}
		for _, name := range slices.Sorted(maps.Keys(of[kind])) {
			r := of[kind][name]
			l.Rows = append(l.Rows, ledgerRow{Name: short(name), Children: r.Children, Valid: r.Valid, Improved: r.Improved,
				LiftSD: r.Lift, Last: -1, Calls: r.Calls, FLOPs: finite(r.FLOPs)})
		}
		if len(l.Rows) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// parseResult reads a result. One search is a bandit's result with one arm.
func parseResult(data []byte) (b report.Bandit, err error) {
	if err := json.Unmarshal(data, &b); err != nil {
		return b, fmt.Errorf("it is no result file: %w", err)
	}
	if len(b.ArmResults) == 0 {
		var g report.Greedy
		if err := json.Unmarshal(data, &g); err != nil {
			return b, fmt.Errorf("it is no result file: %w", err)
		}
		b = report.Bandit{Task: g.Task, Model: g.Model, Algo: g.Kind, C: g.C, ArmResults: []report.Arm{{Setting: g.Setting, Search: g.Search}},
			FLOPs: g.FLOPs, Total: g.Total, Stop: g.Stop, Limit: g.Limit, HeldOut: g.HeldOut, Evaluations: g.Evaluations, Tuned: g.Tuned,
			Ledgers: g.Ledgers, FinalFitness: g.FinalFitness, Fresh: g.Fresh}
		for range g.Trajectory[min(1, len(g.Trajectory)):] {
			b.Selections = append(b.Selections, 0)
		}
	}
	if len(b.ArmResults) == 0 || len(b.ArmResults[0].Trajectory) == 0 {
		return b, errors.New("it is no result file: it has no search with a trajectory")
	}
	return b, check(b)
}

// check returns an error if lists of the file do not fit each other.
func check(b report.Bandit) error {
	made := make([]int, len(b.ArmResults))
	for round, arm := range b.Selections {
		if arm < 0 || arm >= len(made) {
			return fmt.Errorf("round %d is of search %d, and it has %d", round, arm, len(made))
		}
		if made[arm]++; made[arm] >= len(b.ArmResults[arm].Trajectory) {
			return fmt.Errorf("round %d is of search %d, which has no generation for it", round, arm)
		}
	}
	return nil
}

// auditFacts says what a second evaluator says of each search's best, and what is left of it without a tolerance.
func auditFacts(b report.Bandit) (facts []Fact) {
	best := b.ArmResults[0]
	for i, arm := range b.ArmResults {
		if arm.Audit != nil {
			facts = append(facts, Fact{Name: "Audit", Value: fmt.Sprintf("%d of %d demoted", arm.Audit.Demoted, arm.Audit.Audits),
				Note: fmt.Sprintf("search %d: %s", i, short(arm.Audit.String()))})
		}
		if arm.FinalFitness > best.FinalFitness {
			best = arm
		}
	}
	r := eval.Result{Valid: true, Score: best.FinalFitness, Metrics: best.FinalMetrics}
	for _, line := range report.WithoutTolerance(r) {
		facts = append(facts, Fact{Name: "Tolerance", Value: "used", Note: short(line)})
	}
	return facts
}

// freshFact says what the best program of a noisy search scored on fresh samples, beside its search's own score.
func freshFact(b report.Bandit) Fact {
	f := Fact{Name: "Fresh samples", Value: fmt.Sprintf("%s (sd %s, n %d)", number(b.Fresh.Score), number(b.Fresh.SD), b.Fresh.N),
		Note: "the search's own score is " + number(b.FinalFitness)}
	if b.Fresh.N == 0 {
		f.Value = "none"
	}
	if b.Fresh.Reason != "" {
		f.Note += ". " + short(b.Fresh.Reason)
	}
	return f
}

// heldOutFact says what the best program scored on data that the search did not see.
func heldOutFact(h *report.HeldOut) Fact {
	f := Fact{Name: "Held out", Value: number(h.Score), Note: "the search's own score is " + number(h.Searched)}
	if h.Reason != "" {
		f.Value, f.Note = "no score", short(h.Reason)
	}
	if h.Gap != nil {
		f.Note += fmt.Sprintf(", %s more (95 %% interval %s to %s)", number(h.Gap.Mean), number(h.Gap.Low), number(h.Gap.High))
	}
	if h.Note != "" {
		f.Note += "; " + short(h.Note)
	}
	return f
}

// A teller tells a runLog of a result as a journal would have told of its run.
type teller struct {
	log   *runLog
	now   float64 // seconds since the run began
	calls int     // told
}

func (t *teller) add(r journal.Record) {
	r.Time = 1 + int64(t.now*1000)
	t.log.Add(r)
}

// result tells of the whole run.
func (t *teller) result(b report.Bandit) {
	header := journal.Fingerprint{"task": b.Task, "model": b.Model}
	if b.Algo != "" {
		header["search"] = b.Algo
	}
	t.add(journal.Record{Kind: journal.Header, Fingerprint: header})
	run := journal.Fingerprint{"policy": b.Policy, "arms": fmt.Sprint(len(b.ArmResults))}
	if b.C > 0 {
		run["Budget.Calls"] = fmt.Sprint(b.C)
	}
	models := []journal.Model{{Key: b.Model, Name: b.ModelName, ActiveParams: b.FLOPs.Active}}
	t.add(journal.Record{Kind: journal.Run, Fingerprint: run, Models: models})
	for i, arm := range b.ArmResults {
		start := arm.Trajectory[0]
		t.add(journal.Record{Kind: journal.Start, Arm: &i, Valid: start.Valid > 0, Score: start.BestFitness, Reason: start.Reason})
		t.asides(-1, start.Asides)
	}
	made := make([]int, len(b.ArmResults))
	for round, arm := range b.Selections {
		made[arm]++
		t.round(b, round, arm, b.ArmResults[arm].Trajectory[made[arm]])
	}
	t.log.meters.evaluations, t.log.meters.tuned = b.Evaluations, b.Tuned
	if b.Total != nil {
		t.log.calls.lost = b.Total.Lost
	}
	t.charge(b.FLOPs.WorstCase.TotalFLOPs)
	t.end(b)
}

// charge sets the sum of FLOPs to the file's own. The file has the size of one model. Where others were asked, what a class
// of calls cost is not known, and the calls of children are charged at that one size.
func (t *teller) charge(total float64) {
	c := &t.log.calls
	if total <= 0 || math.Abs(c.spent.flops-total) <= 1e-9*total {
		return
	}
	c.spent.flops = total
	for class, sum := range c.classes {
		sum.flops = 0
		c.classes[class] = sum
	}
}

// end tells why the run stopped. A run that can go on has paused.
func (t *teller) end(b report.Bandit) {
	r := journal.Record{Kind: journal.Stop, Stop: string(b.Stop), Limit: b.Limit}
	switch b.Stop {
	case "canceled":
		r.Kind = journal.Pause
	case "error":
		r.Kind, r.Error = journal.Pause, &llm.ErrorRecord{Text: "its result does not say which"}
	case "":
		return // a file of the paper's code does not say
	}
	t.add(r)
}

// round tells of one generation.
func (t *teller) round(b report.Bandit, round, arm int, g report.Generation) {
	draw := journal.Record{Kind: journal.Draw, Pull: &round, Arm: &arm, Prob: 1, Calls: g.Width}
	if round < len(b.Propensities) {
		draw.Prob = b.Propensities[round]
	}
	t.add(draw)
	t.now += max(g.Seconds, 0)
	for c := range g.Children.All() {
		t.child(round, g.Generation, c)
	}
	t.asides(round, g.Asides)
	if g.Partial {
		return
	}
	r := journal.Record{Kind: journal.Report, Pull: &round}
	if round < len(b.Rewards) {
		r.Reward = b.Rewards[round]
	}
	t.add(r)
}

// child tells of a child and its call.
func (t *teller) child(round, step int, c report.Child) {
	r := journal.Record{Kind: journal.Child, Pull: &round, Child: &c.Index, Step: step, ID: c.ID, Parents: c.Parents, Operator: c.Operator, Program: c.Program,
		Valid: c.Valid && c.Fitness != nil, Reason: c.Reason, State: journal.StateUnparsed}
	switch {
	case r.Valid:
		r.State, r.Score = journal.StateValid, *c.Fitness
	case c.Fitness != nil:
		r.State = journal.StateInvalid
	case c.FinalStatus == string(llm.Canceled):
		r.State = journal.StateAbandoned
	case len(c.Attempts) > 0 && c.FinalStatus != string(llm.OK):
		r.State = journal.StateFailed
	}
	r.Key = t.call(round, "", c.Attempts)
	t.add(r)
}

// asides tells of calls beside the children.
func (t *teller) asides(round int, asides []report.Aside) {
	for _, a := range asides {
		t.call(round, a.Kind, a.Attempts)
	}
}

// call tells of a call, and returns its key: "" if there was none.
func (t *teller) call(round int, kind string, attempts []report.Attempt) string {
	if len(attempts) == 0 {
		return ""
	}
	t.calls++
	key := fmt.Sprint(t.calls)
	t.add(journal.Record{Kind: journal.Begin, Key: key, For: kind, Pull: &round})
	end := journal.Record{Kind: journal.Completion, Key: key, Reply: &llm.Reply{}}
	for _, a := range attempts {
		end.Reply.Attempts = append(end.Reply.Attempts, attemptOf(a))
	}
	last := end.Reply.Attempts[len(attempts)-1]
	switch last.Status.Class() {
	case llm.GivenUp:
		end.Kind, end.Error = journal.Abandoned, &llm.ErrorRecord{Text: last.Err}
	case llm.Stall, llm.Errored:
		end.Kind, end.Error = journal.Failure, &llm.ErrorRecord{Text: last.Err}
	}
	t.add(end)
	return key
}

// attemptOf returns an attempt as it was before it was reported.
func attemptOf(a report.Attempt) llm.Attempt {
	status, kind, _ := strings.Cut(a.Status, ":")
	at := llm.Attempt{Status: llm.Status(status), Kind: kind, Unsent: a.Unsent, Streamed: a.Streamed, Capped: a.Capped, Err: a.Error,
		Latency: time.Duration(a.Latency * float64(time.Second)), Model: a.Model, Endpoint: a.Endpoint, Propensity: a.Propensity}
	if a.EstimatedOutput != nil {
		at.MaxTokens = *a.EstimatedOutput
	}
	if a.Usage != nil {
		at.Usage = &llm.Usage{PromptTokens: a.Usage.Prompt, CachedTokens: a.Usage.Details.Cached, CompletionTokens: a.Usage.Completion}
	}
	return at
}

package history_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// number is a task whose programs are numbers, which are their scores. Its evaluator asks a judge of each.
func number() task.Task {
	tk := runtest.Number(task.Spec{})
	return task.WithEvaluator(tk, eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		if _,
			err := llm.Ask(ctx, judge, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: program}}}); err != nil {
			return eval.Result{}, err
		}
		return tk.Evaluate(ctx, program)
	}))
}

var models = []llm.Model{{Key: "small", Name: "small", ActiveParams: 1000, Price: &llm.Price{Prompt: 1, Completion: 2}}}

// small answers with numbers. Some answers hold none, some calls fail, stall, or take two attempts, by seed.
var small = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	a := llm.Attempt{Status: llm.OK, Model: "small", ActiveParams: 1000, Endpoint: "http://127.0.0.1:1/v1",
		FinishReason: "stop",
		Usage:        &llm.Usage{PromptTokens: 50 + int(req.Seed%7), CachedTokens: 5, CompletionTokens: 5}}
	late := a
	late.Status, late.Usage, late.MaxTokens, late.Streamed, late.Err = llm.Stalled, nil, 100, 7, "silent"
	text := fmt.Sprintf("```text\n%v\n```", float64(req.Seed%1000)/100-float64(req.Seed%13))
	switch req.Seed % 10 {
	case 0:
		return llm.Reply{Attempts: []llm.Attempt{late}}, &llm.Error{Status: llm.Stalled, Err: context.DeadlineExceeded}
	case 1:
		text = "no"
	case 2:
		text = "```text\nx\n```"
	case 3:
		return llm.Reply{Text: text, Attempts: []llm.Attempt{late, a}}, nil
	}
	return llm.Reply{Text: text, Attempts: []llm.Attempt{a}}, nil
})

// judge says something of any program.
var judge = llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: "good", Attempts: []llm.Attempt{{Status: llm.OK, Model: "small",
		Usage: &llm.Usage{PromptTokens: 9, CompletionTokens: 1}}}}, nil
})

// A trial is a run of two searches with operators that leaves a journal and a result.
type trial struct{ journal, result string }

func newTrial(t testing.TB) trial {
	dir := t.TempDir()
	return trial{filepath.Join(dir, "run.journal"), filepath.Join(dir, "run.json")}
}

// run makes the run or goes on with it. It is canceled once so many generations have ended, if after is not 0.
func (tr trial) run(t testing.TB, after int) *evolve.Result {
	t.Helper()
	var arms []evolve.Arm
	for seed := range uint32(2) {
		p, err := population.New(population.Config{Task: number(), LLM: small, N: 4, Seed: seed, Archive: population.Top(6),
			Select:    population.Uniform(),
			Operators: []population.Operator{population.Rewrite{}, population.Cross{}, &population.Merge{}}})
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, p)
	}
	j, err := journal.Open(tr.journal, journal.Config{Resume: true,
		Fingerprint: journal.Fingerprint{"task": "number", "model": "small"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := 0
	res, err := evolve.Run(ctx, evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, Journal: j,
		Budget: evolve.Budget{Rounds: 30, Stalls: -1, Models: models},
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration {
				if ended++; ended == after {
					cancel()
				}
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	file := report.NewBandit(res, report.BanditHeader{Header: report.Header{Task: "number", Model: models[0], T: 30,
		N: 4}, ArmSeeds: []uint32{0, 1}})
	if err := result.Save(tr.result, file); err != nil {
		t.Fatal(err)
	}
	return res
}

func read(t testing.TB, path string) *history.Run {
	t.Helper()
	run, err := history.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// What a journal tells of a run is what its result holds, also if the run was stopped twice.
func TestJournalIsTheResult(t *testing.T) {
	tr := newTrial(t)
	for _, after := range []int{5, 7} {
		tr.run(t, after)
	}
	res := tr.run(t, 0)
	run := read(t, tr.journal)
	prices := history.Prices(models)
	spent := prices.Tally(slices.Values(slices.Concat(slices.Collect(res.EachCall), res.Earlier.Abandoned,
		res.Earlier.Unclaimed)))
	for _, of := range []struct{ got, want any }{
		{run.Tally, spent}, {run.Evaluated, res.Evaluations}, {run.Spent.Calls >= res.Calls, true},
		{len(run.Rounds), len(res.Rounds)}, {run.Stop, string(res.Stop)}, {run.Clock.Parts, 3}, {run.Flying, 0},
	} {
		if diff := cmp.Diff(of.want, of.got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("(-result +journal)\n%s", diff)
		}
	}
	best, row := run.BestScore()
	if best.Value != res.Best.Result.Score || row < 0 ||
		run.Children[row].Program != record.KeyOf(res.Best.Program).String() {
		t.Errorf("the best is %v in row %d, want %+v", best, row, res.Best)
	}
	at := map[int]int{} // children of each round that were seen
	for _, c := range run.Children {
		round := res.Rounds[c.Round]
		g := res.Arms[round.Pull.Arm].Generations[round.Generation]
		want := g.Children[at[c.Round]]
		at[c.Round]++
		if c.ID != want.ID || c.Index != want.Index || c.Operator != want.Operator || c.Program != want.Hash ||
			c.Valid != (want.Scored() && want.Result.Valid) ||
			!slices.Equal(c.Parents, want.Parents) || c.Step != g.Index || c.Arm != round.Pull.Arm {
			t.Errorf("child %+v, want %+v", c, want)
		}
		if cost := prices.Call(want.Attempts); cost != c.Cost {
			t.Errorf("child %d cost %+v, want %+v", c.ID, c.Cost, cost)
		}
	}
	if got := len(run.Children); got != 120 {
		t.Errorf("%d children, want 120", got)
	}
}

// A result tells of its run what the journal does, but for times, labels, and evaluators' and lost calls' places.
func TestResultIsTheJournal(t *testing.T) {
	tr := newTrial(t)
	tr.run(t, 0)
	f, err := os.Open(tr.result)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	of := read(t, tr.journal)
	written, err := result.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	file, err := written.History()
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Options{cmpopts.EquateApprox(1e-9, 0), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(history.Child{}, "Time", "Stamp", "Record", "Spent", "Labels", "Cost.Money", "Reason"),
		cmpopts.IgnoreFields(history.Round{}, "Begin", "End", "Seconds", "Best", "Cost.Money", "Reward"),
		cmpopts.IgnoreFields(history.Cost{}, "Money"),
		cmpopts.IgnoreUnexported(history.Totals{}), cmpopts.IgnoreUnexported(history.Lifts{})}
	for name, pair := range map[string][2]any{
		"children": {of.Children, file.Children}, "rounds": {of.Rounds, file.Rounds}, "spent": {of.Spent, file.Spent},
		"calls":   {of.Calls, file.Calls},
		"classes": {of.Classes, file.Classes}, "best": {of.Best, file.Best}, "evaluations": {of.Evaluated, file.Evaluated},
		"attempts":     {of.Attempts, file.Attempts},
		"how it ended": {of.Ending, file.Ending}, "programs that it began with": {of.Arms[0].Start.Program,
			file.Arms[0].Start.Program},
	} {
		if diff := cmp.Diff(pair[0], pair[1], same); diff != "" {
			t.Errorf("%s (-journal +result)\n%s", name, diff)
		}
	}
}

// At each record the totals are those of the children that there are, counted anew.
func TestTotalsGrow(t *testing.T) {
	tr := newTrial(t)
	tr.run(t, 9)
	tr.run(t, 0)
	b, records := history.NewBuilder(nil), 0
	for r, err := range record.Read(tr.journal) {
		if err != nil {
			t.Fatal(err)
		}
		b.Add(r)
		if records++; records%17 > 0 {
			continue
		}
		run, got := b.Told(), b.Told().Totals()
		byName := map[string]history.Totals{}
		for _, c := range run.Children {
			name := c.Operator
			if name == "" {
				name = history.PlainRewrite
			}
			n := byName[name]
			n.Children++
			if c.Valid {
				n.Valid++
			}
			if c.Improved {
				n.Improved++
			}
			n.Cost = n.Cost.Plus(c.Cost)
			byName[name] = n
		}
		for _, is := range got.By(history.ByOperator) {
			want := byName[is.Name]
			if is.Children != want.Children || is.Valid != want.Valid || is.Improved != want.Improved ||
				is.Cost.Tokens != want.Cost.Tokens {
				t.Fatalf("record %d: %s has %+v, want %+v", records, is.Name, is, want)
			}
			delete(byName, is.Name)
		}
		if len(byName) > 0 || got.All.Children != len(run.Children) {
			t.Fatalf("record %d: operators without totals: %v; %d of %d children", records, byName, got.All.Children,
				len(run.Children))
		}
		arms := 0
		for _, t := range b.Told().ArmTotals() {
			arms += t.Children
		}
		if arms != len(run.Children) {
			t.Fatalf("record %d: %d children of arms, want %d", records, arms, len(run.Children))
		}
	}
}

// A child that was told of in a step which was cut short is gone until it is made again.
func TestGone(t *testing.T) {
	b := history.NewBuilder(nil)
	pull, arm := 0, 0
	child := record.Record{Kind: record.Child, Pull: &pull, Child: new(int),
		Proposal: books.Proposal{ID: 1, State: books.StateValid, Valid: true, Score: 1}}
	for i, step := range []struct {
		record record.Record
		gone   bool
	}{
		{record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm}, false}, {child, false},
		{record.Record{Kind: record.Incarnation}, true}, {child, false},
		{record.Record{Kind: record.Report, Pull: &pull}, false}, {record.Record{Kind: record.Incarnation}, false},
	} {
		b.Add(step.record)
		if run := b.Told(); i > 0 && (len(run.Children) != 1 || run.Children[0].Gone != step.gone) {
			t.Errorf("after record %d: %+v, want gone %v", i, run.Children, step.gone)
		}
	}
}

// A file that is not a journal is refused.
func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{"no.json": "x", "empty.json": "", "none.json": "{}",
		"torn.journal": `{"i":0,"kind":"hea`} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if run, err := history.Read(path); err == nil || run != nil {
			t.Errorf("%s: %+v, %v", name, run, err)
		}
	}
	if _, err := history.Read(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("no error of a file that is not there")
	}
}

// The totals of a run that was read are of all its children, also of those whose step was cut short.
func TestReadHasAllTotals(t *testing.T) {
	tr := newTrial(t)
	tr.run(t, 5)
	pull, arm := 1000, 0
	b := history.NewBuilder(nil)
	for r, err := range record.Read(tr.journal) {
		if err != nil {
			t.Fatal(err)
		}
		b.Add(r)
	}
	b.Add(record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm})
	for i := range 3 {
		b.Add(record.Record{Kind: record.Child, Pull: &pull, Child: &i,
			Proposal: books.Proposal{ID: 900 + i, State: books.StateValid, Valid: true}})
	}
	open, run := b.Told().ArmTotals()[0].Children, read(t, tr.journal)
	arms := 0
	for _, totals := range run.ArmTotals() {
		arms += totals.Children
	}
	if n := len(run.Children); arms != n || run.Totals().All.Children != n || n == 0 ||
		open != run.ArmTotals()[0].Children+3 {
		t.Errorf("%d children, %d of arms, %d in all; %d of the first arm with a step under way", n, arms,
			run.Totals().All.Children, open)
	}
}

// What records do not tell follows from evaluations: journals of earlier versions tell no states, and a program may
// have been evaluated more than once.
func TestWhatBecame(t *testing.T) {
	good, bad := eval.Result{Valid: true}, eval.Invalid("timed out")
	for _, tt := range []struct {
		why         string
		evaluations []*eval.Result
		told        books.Proposal
		state       history.State
		reason      string
	}{
		{"parts are valid, and the whole is not", []*eval.Result{&good, &good}, books.Proposal{}, books.StateInvalid, ""},
		{"it was not evaluated", nil, books.Proposal{}, books.StateRefused, "it was not evaluated"},
		{"one evaluation found it invalid", []*eval.Result{&good, &bad}, books.Proposal{}, books.StateInvalid, "timed out"},
		{"it is valid, and was not once", []*eval.Result{&bad, &good}, books.Proposal{State: books.StateValid, Valid: true},
			books.StateValid, ""},
		{"its record gives no reason", []*eval.Result{&bad}, books.Proposal{State: books.StateInvalid}, books.StateInvalid,
			"timed out"},
	} {
		b := history.NewBuilder(nil)
		pull, arm := 0, 0
		b.Add(record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm})
		for _, r := range tt.evaluations {
			b.Add(record.Record{Kind: record.Evaluation, Program: "p", Result: r})
		}
		b.Add(record.Record{Kind: record.Child, Pull: &pull, Child: new(int), Program: "p", Proposal: tt.told})
		if c := b.Told().Children[0]; c.State != tt.state || c.Reason != tt.reason {
			t.Errorf("%s: %s because of %q, want %s because of %q", tt.why, c.State, c.Reason, tt.state, tt.reason)
		}
	}
}

// The children of a step are taken in by index, so all but the first may wait for that one. What their calls cost is
// theirs however many there are.
func TestCostOfChildrenThatWait(t *testing.T) {
	const n = 1500
	replies := 0
	b := history.NewBuilder(func(int, string) { replies++ })
	pull, arm := 0, 0
	b.Add(record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm})
	reply := &llm.Reply{Text: "a reply", Attempts: []llm.Attempt{{Status: llm.OK, Model: "m",
		Usage: &llm.Usage{PromptTokens: 3}}}}
	for i := range n {
		b.Add(record.Record{Kind: record.Completion, Pull: &pull, Key: fmt.Sprint(n - i), Reply: reply})
	}
	for i := range n {
		b.Add(record.Record{Kind: record.Child, Pull: &pull, Child: &i, Key: fmt.Sprint(i + 1),
			Proposal: books.Proposal{ID: i + 1, State: books.StateInvalid}})
	}
	models := b.Told().Totals().By(history.ByModel)
	if len(models) != 1 || models[0].Children != n || models[0].Cost.Calls != n || models[0].Cost.Tokens.Prompt != 3*n {
		t.Errorf("of %d children: %+v", n, models)
	}
	if replies != n {
		t.Errorf("%d replies are told of, want %d", replies, n)
	}
}

// A limit that a file does not name is not named.
func TestWordsWithoutALimit(t *testing.T) {
	if words := (history.Ending{Stop: "budget"}).Words(nil); words != "a limit of its budget ended it" {
		t.Errorf("%q", words)
	}
}

// A child that is made again takes its place among the best as if all had come in order: of equal ones the first is
// before the others, and of equal programs the first alone is there.
func TestBestOfThoseMadeAgain(t *testing.T) {
	b := history.NewBuilder(nil)
	pull, arm := 0, 0
	b.Add(record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm})
	add := func(index int, program string, score float64) {
		p := books.Proposal{ID: index + 1, State: books.StateValid, Valid: true, Score: score}
		if program == "" {
			p = books.Proposal{ID: index + 1, State: books.StateAbandoned}
		}
		b.Add(record.Record{Kind: record.Child, Pull: &pull, Child: &index, Program: program, Proposal: p})
	}
	for _, tt := range []struct {
		why     string
		index   int
		program string
		score   float64
		best    []int
	}{
		{"nothing came of it", 0, "", 0, nil},
		{"the first score", 1, "a", 5, []int{1}},
		{"a program twice", 2, "a", 5, []int{1}},
		{"an equal score", 3, "b", 5, []int{1, 3}},
		{"made again, with an equal score: it was first", 0, "c", 5, []int{0, 1, 3}},
		{"made again, with the program of another", 0, "a", 5, []int{0, 3}},
		{"made again, and worse", 0, "d", 1, []int{1, 3, 0}},
	} {
		add(tt.index, tt.program, tt.score)
		if got := b.Told().Best; !slices.Equal(got, tt.best) {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.best)
		}
	}
}

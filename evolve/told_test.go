package evolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
)

// labeled is a search whose children have labels and an Admit.
type labeled struct {
	evolve.Breeder
	n int
}

func (l *labeled) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	return l.Breed(ctx, turn, l.n, func(i int) evolve.Brief {
		b := evolve.Brief{Operator: "op", Labels: map[string]string{"way": fmt.Sprint(i)},
			Seed: evolve.ChildSeed(40, l.n, l.Steps()-1, i),
			Admit: func(_ context.Context, program string) (string, error) {
				if strings.Contains(program, "77") {
					return "it has a 77", nil
				}
				return "", nil
			}}
		return b.Of(l.Initial())
	}, func(c evolve.Child) { c.Labels["place"] = strings.Repeat("p", 1000) })
}

// told is what a journal tells of a run.
type told struct {
	all      []record.Record
	children []record.Record
	ends     map[string]record.Kind // how a call ended last, by key and number
	lost     int                    // attempts that were begun and whose end is not known
}

func id(r record.Record) string { return fmt.Sprint(r.Key, " ", r.N) }

func readTold(t testing.TB, path string) (f told) {
	t.Helper()
	f.ends = map[string]record.Kind{}
	begun := map[string]bool{}
	for r, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		f.all = append(f.all, r)
		switch r.Kind {
		case record.Begin:
			begun[id(r)] = true
			if r.Pull == nil {
				t.Error("a begin does not say of which pull it is")
			}
		case record.Completion, record.Failure, record.Abandoned, record.Refusal:
			f.ends[id(r)] = r.Kind
			delete(begun, id(r))
		case record.Incarnation:
			f.lost += len(begun)
			clear(begun)
		case record.Child:
			f.children = append(f.children, r)
		}
	}
	return f
}

// one returns the only record of a kind.
func (f told) one(t testing.TB, kind record.Kind) (found record.Record) {
	t.Helper()
	n := 0
	for _, r := range f.all {
		if r.Kind == kind {
			found = r
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d records of kind %s, want 1", n, kind)
	}
	return found
}

// What became of each child stands in its record, with the call that it is joined by.
func TestStatesOfChildren(t *testing.T) {
	failed := llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Err: "no such thing"}}}
	replies := []struct {
		reply   llm.Reply
		err     error
		state   books.State
		reason  string
		call    record.Kind
		program bool
	}{
		{ok("```text\n5\n```", 1), nil, books.StateValid, "", record.Completion, true},
		{ok("```text\nfive\n```", 2), nil, books.StateInvalid, "not a number", record.Completion, true},
		{ok("```text\n\n```", 3), nil, books.StateUnparsed, "program", record.Completion, false},
		{failed, errors.New("no such thing"), books.StateFailed, "no such thing", record.Failure, false},
		{ok("```text\n77\n```", 4), nil, books.StateRefused, "it has a 77", record.Completion, true},
		{ok("```text\n5 \n```", 5), nil, books.StateValid, "", record.Completion, true}, // the first one's, with a space
	}
	path := journalPath(t)
	j := openJournal(t, path)
	model := answers(40, len(replies), func(i int) (llm.Reply, error) { return replies[i].reply, replies[i].err })
	arm := &labeled{evolve.Breeder{Task: newNumbers(t, "1"), LLM: model}, len(replies)}
	var events []evolve.Event
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 1, Models: llm.Models()[:1]},
		Journal:  j,
		Observer: func(e evolve.Event) { events = append(events, e) }})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	f := readTold(t, path)
	texts := map[string]bool{}
	for _, r := range f.all {
		texts[r.Key] = texts[r.Key] || r.Kind == record.Program
	}
	if len(f.children) != len(replies) {
		t.Fatalf("%d records of children, want %d", len(f.children), len(replies))
	}
	for i, r := range f.children {
		want := replies[i]
		if want.program && !texts[r.Program] {
			t.Errorf("child %d: the file has not the text of its program", i)
		}
		if r.State != want.state || !strings.Contains(r.Reason, want.reason) || f.ends[id(r)] != want.call ||
			(r.Program != "") != want.program {
			t.Errorf("child %d: %+v; its call is a %q, want %+v", i, r, f.ends[id(r)], want)
		}
		if *r.Pull != 0 || *r.Child != i || r.ID != i+1 || r.Step != 1 || r.Operator != "op" ||
			r.Labels["way"] != fmt.Sprint(i) || len(r.Labels["place"]) != 200 {
			t.Errorf("child %d has the address %d, %d, %d, %d and the labels %v", i, *r.Pull, r.Step, *r.Child, r.ID, r.Labels)
		}
		e := events[1+i]
		if e.Kind != evolve.EventChild || e.Child.ID != r.ID || e.Generation.Index != r.Step || e.Pull.ID != *r.Pull ||
			e.Child.Labels["way"] != r.Labels["way"] {
			t.Errorf("event %d: %+v", 1+i, e)
		}
	}
	if got := f.one(t, record.Report).Ledger.Spent; got.Calls != 5 || got.Evaluations != 3 || got.Tokens == 0 {
		t.Errorf("by the last child %+v is spent", got)
	}
	last := events[len(events)-1].Ledger
	if last.Spent.Calls != res.Calls || last.Spent.Evaluations != res.Evaluations || last.Reserved != (books.Amounts{}) ||
		last.Spent.FLOPs == 0 {
		t.Errorf("the last event's ledger is %+v, of %d calls and %d evaluations", last, res.Calls, res.Evaluations)
	}
	if run := f.one(t, record.Run); run.Models[0].Key != llm.Models()[0].Key || len(run.Arms) != 1 ||
		run.Arms[0].Name != "*evolve_test.labeled" {
		t.Errorf("the run's record is %+v", run)
	}
	if s := f.one(t, record.Start); *s.Arm != 0 || s.Score != 1 || !s.Valid || s.Program != record.KeyOf("1").String() {
		t.Errorf("the record of the start is %+v", s)
	}
}

// The budget's refusals are children too, and a reader finds the limit and the call's record.
func TestRefusedChildrenAreTold(t *testing.T) {
	model := llm.Models()[0]
	model.MaxTokens = 100
	path := journalPath(t)
	j := openJournal(t, path)
	res := mustRun(t, evolve.Config{Arms: arms(t, 1, 8), Budget: evolve.Budget{Tokens: 900, Models: []llm.Model{model}},
		Journal: j})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	f := readTold(t, path)
	refused := 0
	for _, r := range f.children {
		if r.State == books.StateRefused {
			refused++
			if r.Limit != "Tokens" || f.ends[id(r)] != record.Refusal || r.Reason == "" {
				t.Errorf("child %d was refused by %q, with the call %q: %q", r.ID, r.Limit, f.ends[id(r)], r.Reason)
			}
		}
	}
	want := 0
	for _, g := range res.Arms[0].Generations {
		want += len(g.Children)
	}
	if made := len(f.children) - refused; refused == 0 || made != want {
		t.Errorf("%d children were refused and %d made, of which the result has %d", refused, made, want)
	}
	if limit := f.one(t, record.Run).Ledger.Limit; limit.Tokens != 900 || limit.Calls != 0 {
		t.Errorf("the run's limits are %+v", limit)
	}
}

// Calls that were given up are told of with their children, those that were lost can be counted by pull, and the run
// that goes on tells of the same children again.
func TestAbandonedAndLostAreTold(t *testing.T) {
	path := journalPath(t)
	resumable := func(ctx context.Context, l llm.LLM) *evolve.Result {
		j := openJournal(t, path)
		defer j.Close()
		arm := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 4, Seed: 40})
		res, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: 8}, Journal: j})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	ctx, cancel := context.WithCancel(t.Context())
	hang := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if req.Seed != evolve.ChildSeed(40, 4, 0, 2) {
			return climber(ctx, req)
		}
		cancel()
		<-ctx.Done()
		return llm.Reply{Attempts: []llm.Attempt{{Status: llm.Canceled, Err: "canceled"}}}, ctx.Err()
	})
	resumable(ctx, hang)
	f := readTold(t, path)
	var given *record.Record
	for _, r := range f.children {
		if *r.Child == 2 {
			given = &r
		}
	}
	if given == nil || given.State != books.StateAbandoned || f.ends[id(*given)] != record.Abandoned {
		t.Fatalf("the child that was given up has the record %+v", given)
	}
	if pause := f.one(t, record.Pause); pause.Ledger == nil || pause.Ledger.Spent.Tokens == 0 ||
		pause.Ledger.Reserved != (books.Amounts{}) {
		t.Errorf("the pause has the ledger %+v", pause.Ledger)
	}
	resumable(t.Context(), climber)
	f = readTold(t, path)
	last := map[[2]int]record.Record{}
	for _, r := range f.children {
		last[[2]int{*r.Pull, *r.Child}] = r
	}
	if again := last[[2]int{0, 2}]; len(last) != 8 || len(f.children) <= 8 || again.State == books.StateAbandoned ||
		f.ends[id(again)] != record.Completion {
		t.Errorf("%d records of %d children, the one that was given up is now %+v", len(f.children), len(last), again)
	}
	cutAfterBegin(t, path)
	res := resumable(t.Context(), climber)
	if f = readTold(t, path); f.lost == 0 || f.lost != len(res.Earlier.Lost) {
		t.Errorf("%d attempts were lost, of which the result has %d", f.lost, len(res.Earlier.Lost))
	}
	before := len(f.children)
	resumable(t.Context(), climber) // it is over, and nothing is told again
	if f = readTold(t, path); len(f.children) != before {
		t.Errorf("a run that was over told of %d children more", len(f.children)-before)
	}
}

// cutAfterBegin cuts the file behind its last begin, as a kill may leave it.
func cutAfterBegin(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(data, []byte(`"kind":"begin"`))
	end := at + bytes.IndexByte(data[at:], '\n') + 1
	if err := os.WriteFile(path, data[:end], 0o600); err != nil {
		t.Fatal(err)
	}
}

// Every child is told of once, whoever made it: a Breeder, an arm by hand, several in flight.
func TestEachChildIsToldOnce(t *testing.T) {
	tk := newNumbers(t, "0")
	for _, tt := range []struct {
		reason string
		arms   func() []evolve.Arm
	}{
		{"searches in flight", func() []evolve.Arm { return arms(t, 3, 4) }},
		{"arms by hand", func() []evolve.Arm {
			return []evolve.Arm{&careless{task: tk, llm: climber, seed: 1}, &careless{task: tk, llm: climber, seed: 2}}
		}},
	} {
		path := filepath.Join(t.TempDir(), "run.journal")
		j := openJournal(t, path)
		told := 0
		var seen, generations []evolve.Child
		res := mustRun(t, evolve.Config{Arms: tt.arms(), Policy: &bandit.UCB1{C: 1}, InFlight: 2,
			Budget: evolve.Budget{Calls: 30}, Journal: j, Observer: func(e evolve.Event) {
				switch e.Kind {
				case evolve.EventChild:
					told++
					if e.Pull.Prob == 0 || e.Generation.Index == 0 {
						t.Errorf("%s: a child of pull %+v, step %d", tt.reason, e.Pull, e.Generation.Index)
					}
					e.Child.Duplicate = false // the children of arms by hand are told of when they are marked
					seen = append(seen, e.Child)
				case evolve.EventGeneration:
					generations = append(generations, e.Generation.Children...)
				}
			}})
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if f := readTold(t, path); len(f.children) != told || told != len(generations) || told == 0 {
			t.Errorf("%s: %d records and %d events of %d children", tt.reason, len(f.children), told, len(generations))
		}
		for _, c := range generations {
			c.Duplicate, c.Result = false, c.Result.Clone()
			found := 0
			for _, s := range seen {
				if reflect.DeepEqual(s, c) {
					found++
				}
			}
			if found == 0 {
				t.Fatalf("%s: no event is of child %+v", tt.reason, c)
			}
		}
		if res.Calls != 30 {
			t.Errorf("%s: %d calls", tt.reason, res.Calls)
		}
	}
}

// An observer is told at which endpoints attempts stalled, and what is set aside while calls are under way.
func TestEventLedger(t *testing.T) {
	stalled := llm.Reply{Attempts: []llm.Attempt{{Status: llm.Stalled, Endpoint: "http://slow"}}}
	arm := &labeled{evolve.Breeder{Task: newNumbers(t, "1"), Window: 1,
		LLM: answers(40, 4, func(i int) (llm.Reply, error) {
			if i%2 == 0 {
				return stalled, errors.New("it stalled")
			}
			return ok("```text\n5\n```", 1), nil
		})}, 4}
	var last evolve.Event
	mustRun(t, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 1, Stalls: 7},
		Observer: func(e evolve.Event) {
			if e.Kind == evolve.EventChild && e.Child.Index == 1 &&
				(e.Ledger.Spent.Stalls < 1 || e.Ledger.StallsAt["http://slow"] < 1) {
				t.Errorf("by the second child the ledger is %+v", e.Ledger)
			}
			last = e
		}})
	if l := last.Ledger; l.Spent.Stalls != 2 || !reflect.DeepEqual(l.StallsAt, map[string]int{"http://slow": 2}) ||
		l.Limit.Stalls != 7 {
		t.Errorf("at the end the ledger is %+v", l)
	}
}

// A row of a result names the program's record in the journal, and so do its parents' rows.
func TestRowsNamePrograms(t *testing.T) {
	path := journalPath(t)
	j := openJournal(t, path)
	res := mustRun(t, evolve.Config{Arms: arms(t, 1, 4), Budget: evolve.Budget{Calls: 12}, Journal: j})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, r := range readTold(t, path).all {
		if r.Kind == record.Program {
			texts[r.Key] = r.Text
		}
	}
	search := report.NewGreedy(res, report.Header{Model: testModel, N: 4}, 40)
	if texts[search.FinalProgram] != res.Best.Program {
		t.Errorf("the best program is %q, and that of final_program %q", res.Best.Program, texts[search.FinalProgram])
	}
	programs := map[int]string{0: search.Trajectory[0].Program}
	for _, g := range search.Trajectory[1:] {
		for _, c := range g.Children {
			programs[c.ID] = c.Program
			for _, p := range c.Parents {
				if texts[programs[p]] == "" {
					t.Errorf("child %d has the parent %d, whose program is not found", c.ID, p)
				}
			}
			if text, ok := texts[c.Program]; !ok && c.Fitness != nil || text != "" && c.Valid && text != fmt.Sprint(*c.Fitness) {
				t.Errorf("child %d scored %v with %q", c.ID, c.Fitness, text)
			}
		}
	}
	if len(programs) < 10 {
		t.Errorf("%d programs", len(programs))
	}
}

// unscored is an arm by hand whose programs have scores that JSON cannot hold.
type unscored struct{ steps int }

func (*unscored) Start(context.Context, *evolve.Turn) error { return nil }

func (u *unscored) Step(context.Context, *evolve.Turn) (evolve.Generation, error) {
	u.steps++
	r := eval.Result{Valid: u.steps == 1, Score: math.NaN()}
	return evolve.Generation{Index: u.steps, Children: []evolve.Child{{ID: u.steps,
		Candidate: eval.Candidate{Program: "1", Result: r}}}}, nil
}

func (*unscored) Best() eval.Candidate {
	return eval.Candidate{Result: eval.Result{Score: math.Inf(-1)}}
}

func (u *unscored) Done() bool { return u.steps == 2 }

// A score that is not finite is told of as none, and does not end the run.
func TestScoresThatAreNotFiniteAreTold(t *testing.T) {
	path := journalPath(t)
	j := openJournal(t, path)
	mustRun(t, evolve.Config{Arms: []evolve.Arm{&unscored{}}, Budget: evolve.Budget{Rounds: 2}, Journal: j,
		Reward: func(evolve.Generation) float64 { return 0 }})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	f := readTold(t, path)
	if s := f.one(t, record.Start); s.Valid || s.Score != 0 || s.Program != "" || s.Reason != "" {
		t.Errorf("the record of the start is %+v", s)
	}
	if len(f.children) != 2 {
		t.Fatalf("%d records of children, want 2", len(f.children))
	}
	for i, want := range []string{"NaN", ""} {
		if c := f.children[i]; c.Valid || c.State != books.StateInvalid || (c.Reason == "") != (want == "") ||
			!strings.Contains(c.Reason, want) {
			t.Errorf("child %d has the record %+v", i, c)
		}
	}
}

package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/internal/runtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

var ledgerModel = llm.Model{Key: "small", Name: "small", ActiveParams: 1000}

// sums is a task whose programs are numbers, which score what they are.
func sums() task.Task { return runtest.Number(task.Spec{Name: "sums"}) }

// two is a pair of models: which one answers, and with what, depends on the seed. Some answers have no program, some
// are invalid, and some calls time out.
var two = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	model := []string{"small", "large\x1b[2J"}[req.Seed%2]
	a := llm.Attempt{Status: llm.OK, Model: model, ActiveParams: 1000, FinishReason: "stop",
		Usage: &llm.Usage{PromptTokens: 50 + int(req.Seed%7), CompletionTokens: 5}}
	late := llm.Attempt{Status: llm.Timeout, Model: "small", ActiveParams: 1000, MaxTokens: 100, Err: "late"}
	text := fmt.Sprintf("```text\n%v\n```", float64(req.Seed%1000)/100-float64(req.Seed%13))
	switch req.Seed % 10 {
	case 0:
		return llm.Reply{Attempts: []llm.Attempt{late}}, &llm.Error{Status: llm.Timeout, Err: context.DeadlineExceeded}
	case 1:
		text = "no"
	case 2:
		text = "```text\nx\n```"
	case 3:
		return llm.Reply{Text: text, Attempts: []llm.Attempt{late, a}}, nil
	}
	return llm.Reply{Text: text, Attempts: []llm.Attempt{a}}, nil
})

// labelled is an operator whose children name a selector and settings, as those of some searches and of earlier journals
// do.
type labelled struct{ population.Operator }

func (o labelled) Brief(v *population.View) evolve.Brief {
	b := o.Operator.Brief(v)
	b.Labels = map[string]string{"selector": fmt.Sprint("by ", v.Birth%2), "settings": fmt.Sprint("set ", v.Birth%3),
		"instruction": b.Labels["instruction"]}
	return b
}

// ledgerRun makes a run of two populations in which every kind of ledger has names, with a journal at path, and returns
// what an observer was told of its children too.
func ledgerRun(t *testing.T, path string, arms, window int) (*evolve.Result, []evolve.Event) {
	t.Helper()
	hostile := "Do\x1b[2J this.\n" + strings.Repeat("Ä very long direction. ", 100)
	var all []evolve.Arm
	for seed := range uint32(arms) {
		p, err := population.New(population.Config{Task: sums(), LLM: two, N: 4, Seed: seed, Archive: population.Top(6),
			Window: window,
			Select: population.Uniform(),
			Operators: []population.Operator{labelled{population.Rewrite{}},
				labelled{population.Explore{Directions: []string{"Think.", hostile}}}, population.Cross{}, &population.Merge{}}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	j, err := journal.Open(path, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var events []evolve.Event
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: all, Policy: &bandit.UCB1{}, Journal: j,
		Budget:   evolve.Budget{Rounds: 30, Models: []llm.Model{ledgerModel}},
		Observer: func(e evolve.Event) { events = append(events, e) }})
	if err != nil {
		t.Fatal(err)
	}
	return res, events
}

// The ledgers of a run are those that a count over its events comes to, child for child.
func TestLedgersAreCounted(t *testing.T) {
	for _, window := range []int{0, 2} {
		res, events := ledgerRun(t, filepath.Join(t.TempDir(), "run.journal"), 1, window)
		got := report.NewGreedy(res, report.Header{Model: ledgerModel, N: 4}, 0).Totals
		want := counted(events)
		if len(want["operator"]) < 3 || len(want["selector"]) < 2 || len(want["instruction"]) != 2 ||
			len(want["model"]) != 2 || len(want["settings"]) != 3 {
			t.Errorf("the run has too few names for the test: %v", want)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
			t.Errorf("window %d (-want +got):\n%s", window, diff)
		}
	}
}

// counted counts by brute force: for every kind and name it goes over all events again.
func counted(events []evolve.Event) result.Totals {
	names := func(c evolve.Child) map[string]string {
		told := c.Labels["instruction"] // of which journals keep the first bytes
		n := map[string]string{"operator": c.Operator, "selector": c.Labels["selector"],
			"instruction": history.Name(strings.ToValidUTF8(told[:min(len(told), eval.MaxName)], "")), "settings": c.Labels["settings"]}
		if len(c.Attempts) > 0 {
			n["model"] = history.Name(c.Attempts[len(c.Attempts)-1].Model)
		}
		return n
	}
	scores, all := map[int]float64{0: 0}, []float64{}
	var children []evolve.Event
	before, best := map[int]float64{}, 0.0
	for _, e := range events {
		switch e.Kind {
		case evolve.EventDraw:
			before[e.Pull.ID] = best
		case evolve.EventChild:
			children = append(children, e)
			if c := e.Child; c.Scored() && c.Result.Valid {
				scores[c.ID], best = c.Result.Score, max(best, c.Result.Score)
			}
		}
	}
	lift := func(c evolve.Child) (float64, bool) {
		parent, ok := scores[c.Parents[0]]
		return c.Result.Score - parent, ok && c.Scored() && c.Result.Valid
	}
	for _, e := range children {
		if l, ok := lift(e.Child); ok {
			all = append(all, l)
		}
	}
	sd := deviation(all)
	of := result.Totals{}
	for _, e := range children {
		for kind, name := range names(e.Child) {
			if name == "" || of[kind][name].Children > 0 {
				continue
			}
			var l result.Total
			sum := 0.0
			for _, e := range children {
				c := e.Child
				if names(c)[kind] != name {
					continue
				}
				l.Children++
				for i, a := range c.Attempts {
					if a.Status == llm.OK {
						l.FLOPs += 2000 * float64(a.Usage.PromptTokens+a.Usage.CompletionTokens)
					} else {
						l.FLOPs += 2000 * 100 // the worst case: the cap on new tokens
					}
					if a.Status == llm.OK && i == len(c.Attempts)-1 {
						l.Calls++
					}
				}
				if c.Scored() && c.Result.Valid {
					l.Valid++
				}
				if x, ok := lift(c); ok {
					l.Lifted++
					sum += x
				}
				if c.Scored() && c.Result.Valid && c.Result.Score > before[e.Pull.ID] {
					l.Improved++
					if at := (result.Place{Generation: e.Generation.Index, Index: c.Index}); l.Last == nil ||
						at.Generation > l.Last.Generation || at.Index > l.Last.Index {
						l.Last = &at
					}
				}
			}
			if l.Lifted > 0 {
				l.Lift = sum / float64(l.Lifted) / sd
			}
			if of[kind] == nil {
				of[kind] = map[string]result.Total{}
			}
			of[kind][name] = l
		}
	}
	return of
}

func deviation(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)-1))
}

// shownRuns is what the test below reads of a page's data.
type shownRuns struct {
	Runs []struct {
		Ledgers []struct {
			Kind string
			Rows []struct {
				Name                                   string
				Children, Calls, Valid, Improved, Last int
				FLOPs                                  float64
				Lift                                   float64 `json:"lift_sd"`
			}
		}
		Children struct{ Arm, Step, Index []int }
	}
}

// The file of a run and the page of its journal say the same, of one search and of several.
func TestFileAndPageAgree(t *testing.T) {
	for _, arms := range []int{1, 3} {
		path := filepath.Join(t.TempDir(), "run.journal")
		res, _ := ledgerRun(t, path, arms, 0)
		seeds := make([]uint32, arms)
		file := report.NewBandit(res, report.BanditHeader{Header: report.Header{Model: ledgerModel, N: 4},
			ArmSeeds: seeds}).Totals
		run, err := view.ReadJournal(t.Context(), path, "run")
		if err != nil {
			t.Fatal(err)
		}
		var page shownRuns
		runtest.DecodePage(t, func(w io.Writer) error { return view.Report(w, view.Page{Runs: []view.Run{run}}) }, &page)
		kinds, state := 0, page.Runs[0]
		for _, l := range state.Ledgers {
			if l.Kind == "search" {
				continue
			}
			kinds++
			if len(l.Rows) != len(file[l.Kind]) {
				t.Errorf("%d searches: the page has %d rows by %s, the file %d", arms, len(l.Rows), l.Kind, len(file[l.Kind]))
			}
			for _, r := range l.Rows {
				f, last := file[l.Kind][r.Name], result.Place{}
				got := result.Total{Children: r.Children, Calls: r.Calls, Valid: r.Valid, FLOPs: r.FLOPs, Improved: r.Improved,
					Lift: r.Lift, Lifted: f.Lifted}
				if r.Last >= 0 {
					c := state.Children
					last = result.Place{Arm: c.Arm[r.Last], Generation: c.Step[r.Last], Index: c.Index[r.Last]}
					got.Last = &last
				}
				if diff := cmp.Diff(f, got, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
					t.Errorf("%d searches, %s %q (-file +page):\n%s", arms, l.Kind, r.Name, diff)
				}
			}
		}
		if kinds != 5 || len(file) != 5 {
			t.Errorf("%d searches: %d kinds on the page and %d in the file, want 5", arms, kinds, len(file))
		}
	}
}

// A result leaves ledgers out where nothing is named but one model. They are bounded, however many names there are.
func TestLedgersAreBounded(t *testing.T) {
	child := func(i int, operator string) evolve.Child {
		return evolve.Child{ID: i + 1, Index: i, Operator: operator,
			Attempts: []llm.Attempt{{Status: llm.OK, Model: "small"}}}
	}
	of := func(operator func(i int) string) report.Greedy {
		arm := evolve.ArmResult{Generations: []evolve.Generation{{}}}
		for i := range 1500 {
			arm.Generations[0].Children = append(arm.Generations[0].Children, child(i, operator(i)))
		}
		return report.NewGreedy(&evolve.Result{Arms: []evolve.ArmResult{arm}}, report.Header{N: 1}, 0)
	}
	var plain bytes.Buffer
	if err := result.Write(&plain, of(func(int) string { return "" })); err != nil ||
		bytes.Contains(plain.Bytes(), []byte("ledgers")) {
		t.Errorf("a plain search has ledgers in its file: %v", err)
	}
	many := of(func(i int) string { return fmt.Sprint("operator ", i) }).Totals["operator"]
	if len(many) != 1001 || many["others"].Children != 500 {
		t.Errorf("%d rows, %d children in the last", len(many), many["others"].Children)
	}
	data, err := json.Marshal(of(func(int) string { return strings.Repeat("\xff\n", 10_000) }).Totals)
	if err != nil || len(data) > 2000 {
		t.Errorf("a long name takes %d bytes: %v", len(data), err)
	}
}

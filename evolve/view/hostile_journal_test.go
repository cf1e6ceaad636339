package view

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"

	"github.com/evoalloc/evoalloc/llm"
)

// A hostileJournal is records that no run writes.
type hostileJournal struct {
	reason  string
	records []record.Record
}

// bornAs is a valid child of the first pull.
func bornAs(id, index int, parents ...int) record.Record {
	return record.Record{Kind: record.Child, Key: "1", Pull: ptr(0), Child: &index, Program: fmt.Sprint(id),
		Proposal: books.Proposal{ID: id, Parents: parents, State: books.StateValid, Valid: true, Score: float64(id)}}
}

func manySettings() journal.Fingerprint {
	many := journal.Fingerprint{}
	for i := range 30_000 {
		many[fmt.Sprint("setting ", i)] = strings.Repeat("x", 300)
	}
	return many
}

func manyNames() (list []record.Record) {
	for i := range 20_000 {
		c := bornAs(i, i)
		c.Operator, c.Labels = strings.Repeat("x", 100)+fmt.Sprint(i),
			map[string]string{"cell": strings.Repeat("y", 100) + fmt.Sprint(i)}
		list = append(list, c)
	}
	return list
}

func retold() (list []record.Record) {
	for i := range 100 {
		c := bornAs(1, 0, 0)
		c.Score = float64(i)
		list = append(list, c)
	}
	return list
}

func hostileJournals() []hostileJournal {
	dear := []record.Model{{Key: "m", ActiveParams: math.MaxInt64,
		Price: &record.Price{Prompt: math.MaxFloat64, Completion: math.MaxFloat64}}}
	spent := &llm.Usage{PromptTokens: math.MaxInt, CompletionTokens: math.MaxInt}
	return []hostileJournal{
		{"limits that are not finite", []record.Record{{Kind: record.Run,
			Fingerprint: journal.Fingerprint{"Budget.Money": "+Inf", "Budget.FLOPs": "NaN", "Budget.Calls": "-Inf",
				"Budget.Tokens": "1e999"}}}},
		{"more searches than there can be", []record.Record{{Kind: record.Run,
			Fingerprint: journal.Fingerprint{"arms": "9223372036854775807"}}}},
		{"a search below 0", []record.Record{{Kind: record.Draw, Pull: ptr(1), Arm: ptr(-1)},
			{Kind: record.Start, Arm: ptr(math.MinInt)}}},
		{"parents in a circle, below 0, and the child itself",
			[]record.Record{bornAs(1, 0, 2), bornAs(2, 1, 1), bornAs(3, 2, 3), bornAs(4, 3, -7), bornAs(2, 1, 3)}},
		{"children below 0", []record.Record{bornAs(-5, -1, -5), bornAs(math.MinInt, math.MinInt, math.MaxInt)}},
		{"a child that is told a hundred times, each time another", retold()},
		{"sums that are not finite", []record.Record{{Kind: record.Run, Models: dear},
			{Kind: record.Completion, Key: "1", Reply: &llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK, Usage: spent},
				{Status: llm.OK, Usage: spent}}}}, bornAs(1, 0)}},
		{"sums of a ledger that are not finite", []record.Record{{Kind: record.Run,
			Fingerprint: journal.Fingerprint{"Budget.Money": "1"}},
			{Kind: record.Stop, Ledger: &books.Ledger{Spent: books.Amounts{Money: math.Inf(1), FLOPs: math.NaN()},
				Reserved: books.Amounts{Money: math.NaN()}}}}},
		{"scores that are not finite", []record.Record{{Kind: record.Start, Arm: ptr(0),
			Proposal: books.Proposal{Valid: true, Score: math.NaN()}},
			{Kind: record.Child, Pull: ptr(0), Child: ptr(0), Program: "a",
				Proposal: books.Proposal{ID: 1, State: books.StateValid, Valid: true, Score: math.Inf(1)}},
			{Kind: record.Report, Pull: ptr(0), Reward: math.NaN()},
			{Kind: record.Draw, Pull: ptr(1), Arm: ptr(0), Prob: math.Inf(-1)}}},
		{"times at both ends", []record.Record{{Kind: record.Incarnation, Time: math.MinInt64},
			{Kind: record.Incarnation, Time: math.MaxInt64}, {Kind: record.Pause, Time: math.MinInt64}}},
		{"an evaluation that took no time, and one that took less",
			[]record.Record{{Kind: record.Evaluation, Result: &eval.Result{}, Took: math.MinInt64},
				{Kind: record.Evaluation, Result: &eval.Result{}, Took: math.MinInt64}}},
		{"thousands of settings", []record.Record{{Kind: record.Header, Fingerprint: manySettings()}}},
		{"thousands of operators and cells", manyNames()},
	}
}

// Whatever the numbers of a journal are, a page can be made of it.
func TestHostileNumbers(t *testing.T) {
	for _, tt := range hostileJournals() {
		t.Run(tt.reason, func(t *testing.T) {
			l := newLog("1", "hostile")
			l.Add(record.Record{Kind: record.Draw, Pull: ptr(0), Arm: ptr(0)})
			for _, r := range tt.records {
				if l.Add(r); r.Kind == record.Run {
					l.Add(record.Record{Kind: record.Draw, Pull: ptr(0), Arm: ptr(0)})
				}
			}
			l.Saved()
			data, err := json.Marshal(l.State(rowCursor{Children: math.MaxInt, Rounds: math.MinInt}))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 8<<20 {
				t.Errorf("%d bytes for a page that has all rows", len(data))
			}
			if _, err := json.Marshal(l.Saved()); err != nil {
				t.Error(err)
			}
		})
	}
}

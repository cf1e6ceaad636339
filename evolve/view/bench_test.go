package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"

	"github.com/evoalloc/evoalloc/llm"
)

// programLines are the lines of a program of two kilobytes.
const programLines = 60

// madeRecords gives the records of a run of so many children, eight to a pull, each with a program of so many lines.
func madeRecords(children, lines int, yield func(record.Record)) {
	n := int64(0)
	add := func(r record.Record) {
		r.Time = 1_700_000_000_000 + n*10
		n++
		yield(r)
	}
	arm, body := 0, strings.Repeat("x = x + 1  # a line of a program\n", lines)
	add(record.Record{Kind: record.Header, Fingerprint: journal.Fingerprint{"task": "made"}})
	add(record.Record{Kind: record.Incarnation})
	add(record.Record{Kind: record.Run, Fingerprint: journal.Fingerprint{"arms": "1"},
		Models: []record.Model{{Key: "m", ActiveParams: 1e9}}})
	for pull := range children / 8 {
		add(record.Record{Kind: record.Draw, Pull: &pull, Arm: &arm, Prob: 1, Calls: 8})
		for i := range 8 {
			id := pull*8 + i + 1
			text := fmt.Sprintf("# %d\n%s", id, body)
			key, call := record.KeyOf(text).String(), fmt.Sprintf("%064x", id)
			add(record.Record{Kind: record.Begin, Key: call, Pull: &pull})
			reply := &llm.Reply{Text: "Here it is.\n```python\n" + text + "```",
				Attempts: []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 900, CompletionTokens: 700}, Model: "m"}}}
			add(record.Record{Kind: record.Completion, Key: call, Reply: reply})
			add(record.Record{Kind: record.Program, Key: key, Text: text})
			score := float64(id * 7919 % 10_007)
			add(record.Record{Kind: record.Evaluation, Key: call, Program: key, Result: &eval.Result{Valid: true, Score: score}})
			add(record.Record{Kind: record.Child, Key: call, Pull: &pull, Child: &i, Step: pull + 1,
				Program: key, Proposal: books.Proposal{ID: id, Parents: []int{max(0, id-9)}, Operator: "rewrite",
					State: books.StateValid, Valid: true, Score: score}})
		}
		add(record.Record{Kind: record.Report, Pull: &pull, Reward: 1})
	}
}

// listed returns a history as a list, so that making it is not measured.
func listed(children int) (records []record.Record) {
	madeRecords(children, programLines, func(r record.Record) { records = append(records, r) })
	return records
}

const manyChildren = 40_000

func filled(records []record.Record) *runLog {
	l := newLog("1", "made")
	for _, r := range records {
		l.Add(r)
	}
	return l
}

// BenchmarkAdd takes in a run of 40,000 children. It reports the time of one record.
func BenchmarkAdd(b *testing.B) {
	records := listed(manyChildren)
	for b.Loop() {
		filled(records)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(records)), "ns/record")
}

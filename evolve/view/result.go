package view

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
)

// fromResult returns a page's data of a result file of package result: see [ReadResult].
func fromResult(id, name string, data []byte) (runState, error) {
	file, err := result.Read(bytes.NewReader(data))
	if err != nil {
		return runState{}, fmt.Errorf("it is no result file: %w", err)
	}
	l := newLog(id, name)
	if l.run, err = file.History(); err != nil {
		return runState{}, err
	}
	if kind := "stop"; file.Stop != "" { // a file of the paper's code does not say
		if l.run.CanGoOn() {
			kind = "pause"
		}
		l.run.Notes = append(l.run.Notes, &history.Note{Time: l.run.Clock.Now(), Kind: kind,
			Text: history.Name(l.run.Words(limitWords)), Count: 1})
	}
	s := l.State(rowCursor{})
	s.Texts = strings.TrimSuffix(short(name), ".json") + ".journal"
	s.Facts = append(s.Facts, fileFacts(file)...)
	s.Ledgers = append(s.Ledgers, fileLedgers(file.Totals)...)
	return s, nil
}

// fileFacts returns what a file has beside the history of its run.
func fileFacts(f *result.Bandit) []Fact {
	facts := auditFacts(f.ArmResults)
	if f.Money != nil && *f.Money > 0 {
		facts = append(facts, Fact{Name: "Money", Value: number(*f.Money)})
	}
	if f.Fresh != nil {
		facts = append(facts, freshFact(f.Fresh, f.FinalFitness))
	}
	if f.HeldOut != nil {
		facts = append(facts, heldOutFact(f.HeldOut))
	}
	return facts
}

// fileLedgers returns the ledgers of labels, which the rows of children in a file lack. The call of the last
// improvement is not in them.
func fileLedgers(of result.Totals) (list []ledgerTable) {
	for _, kind := range []string{history.BySelector, history.ByInstruction, history.BySettings} {
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

// auditFacts returns the second evaluator's results for each search's best, and the scores without tolerance.
func auditFacts(arms []result.Arm) (facts []Fact) {
	top := arms[0]
	for i, arm := range arms {
		if arm.Audit != nil {
			facts = append(facts,
				Fact{Name: "Audit", Value: fmt.Sprintf("%d of %d demoted", arm.Audit.Demoted, arm.Audit.Audits),
					Note: fmt.Sprintf("search %d: %s", i+1, short(arm.Audit.String()))})
		}
		if arm.FinalFitness > top.FinalFitness {
			top = arm
		}
	}
	r := eval.Result{Valid: true, Score: top.FinalFitness, Metrics: top.FinalMetrics}
	for _, line := range result.WithoutTolerance(r) {
		facts = append(facts, Fact{Name: "Tolerance", Value: "used", Note: short(line)})
	}
	return facts
}

// freshFact returns the score of a noisy search's best program on fresh samples, beside the search's own score.
func freshFact(fresh *result.Fresh, searched float64) Fact {
	f := Fact{Name: "Fresh samples",
		Value: fmt.Sprintf("%s (sd %s, n %d)", number(fresh.Score), number(fresh.SD), fresh.N),
		Note:  "the search's own score is " + number(searched)}
	if fresh.N == 0 {
		f.Value = "none"
	}
	if fresh.Reason != "" {
		f.Note += ". " + short(fresh.Reason)
	}
	return f
}

// heldOutFact returns the best program's score on data that the search did not see.
func heldOutFact(h *result.HeldOut) Fact {
	f := Fact{Name: "Held out", Value: number(h.Score), Note: "the search's own score is " + number(h.Searched)}
	if h.Reason != "" {
		f.Value, f.Note = "no score", short(h.Reason)
	}
	if h.Gap != nil {
		f.Note += fmt.Sprintf(", %s more (95 %% interval %s to %s)", number(h.Gap.Mean), number(h.Gap.Low),
			number(h.Gap.High))
	}
	if h.Note != "" {
		f.Note += "; " + short(h.Note)
	}
	return f
}

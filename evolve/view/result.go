package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/report"
)

// fromResult returns a page's data of a result file of evolve/report: see [ReadResult].
func fromResult(id, name string, data []byte) (runState, error) {
	l := newLog(id, name)
	if err := l.builder.AddResult(bytes.NewReader(data)); err != nil {
		return runState{}, err
	}
	var more extras
	if err := json.Unmarshal(data, &more); err != nil {
		return runState{}, fmt.Errorf("it is not a result file: %w", err)
	}
	s := l.State(rowCursor{})
	s.Texts = strings.TrimSuffix(short(name), ".json") + ".journal"
	s.Facts = append(s.Facts, more.facts()...)
	s.Ledgers = append(s.Ledgers, fileLedgers(more.Ledgers)...)
	return s, nil
}

// extras are the fields of a result file beside the history of its run.
type extras struct {
	best                        // of the file of one search
	BanditScore float64         `json:"final_best_fitness"`
	Arms        []best          `json:"arm_results"`
	Ledgers     report.Ledgers  `json:"ledgers"`
	Fresh       *report.Fresh   `json:"fresh"`
	HeldOut     *report.HeldOut `json:"held_out"`
	Money       float64         `json:"money"`
}

// A best is what the file holds on the best program of a search.
type best struct {
	Score   float64            `json:"final_fitness"`
	Metrics map[string]float64 `json:"final_metrics"`
	Audit   *report.Audited    `json:"audit"`
}

func (m extras) facts() []Fact {
	if m.Arms == nil {
		m.Arms, m.BanditScore = []best{m.best}, m.Score
	}
	facts := auditFacts(m.Arms)
	if m.Money > 0 {
		facts = append(facts, Fact{Name: "Money", Value: number(m.Money)})
	}
	if m.Fresh != nil {
		facts = append(facts, freshFact(m.Fresh, m.BanditScore))
	}
	if m.HeldOut != nil {
		facts = append(facts, heldOutFact(m.HeldOut))
	}
	return facts
}

// fileLedgers returns the ledgers of labels, which the rows of children in a file lack. The call of the last
// improvement is not in them.
func fileLedgers(of report.Ledgers) (list []ledgerTable) {
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
func auditFacts(arms []best) (facts []Fact) {
	top := arms[0]
	for i, arm := range arms {
		if arm.Audit != nil {
			facts = append(facts,
				Fact{Name: "Audit", Value: fmt.Sprintf("%d of %d demoted", arm.Audit.Demoted, arm.Audit.Audits),
					Note: fmt.Sprintf("search %d: %s", i+1, short(arm.Audit.String()))})
		}
		if arm.Score > top.Score {
			top = arm
		}
	}
	r := eval.Result{Valid: true, Score: top.Score, Metrics: top.Metrics}
	for _, line := range report.WithoutTolerance(r) {
		facts = append(facts, Fact{Name: "Tolerance", Value: "used", Note: short(line)})
	}
	return facts
}

// freshFact returns the score of a noisy search's best program on fresh samples, beside the search's own score.
func freshFact(fresh *report.Fresh, searched float64) Fact {
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
func heldOutFact(h *report.HeldOut) Fact {
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

package view

import (
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// meters measure what is spent, and how fast.
type meters struct {
	samples []sample // of the last minute, at most one a second
}

// A sample is what was spent at a time.
type sample struct {
	at    int64
	spent spent
}

// spent is what a run has spent of what limits count.
type spent struct {
	journal.Amounts
	rounds  int
	seconds float64
}

// of returns what l counts.
func (s *spent) of(l evolve.Limit) float64 {
	switch l.Name {
	case "Rounds":
		return float64(s.rounds)
	case "WallTime":
		return s.seconds
	}
	return l.Amount(s.Amounts)
}

// metered are the limits of which a page shows how much is spent.
var metered = slices.DeleteFunc(evolve.Limits(), func(l evolve.Limit) bool { return l.Counts == "" })

// spent returns what the run has spent.
func (l *runLog) spent() spent {
	run := l.run
	return spent{
		Amounts: journal.Amounts{
			Calls: run.Spent.Calls, Evaluations: run.Evaluated, Stalls: run.Attempts[llm.Stall], Tokens: run.Spent.Tokens.All(), FLOPs: run.Spent.FLOPs,
			Money: run.Spent.Money, EvalTime: time.Duration(run.EvalTime), TuneEvaluations: run.Tuned,
		},
		rounds: len(run.Rounds), seconds: float64(run.Clock.Now()) / 1000,
	}
}

// rateTime is over how long rates are taken, in milliseconds.
const rateTime = 60_000

// sample notes what is spent now.
func (m *meters) sample(now int64, spent spent) {
	if n := len(m.samples); n > 0 && now-m.samples[n-1].at < 1000 {
		return
	}
	m.samples = append(m.samples, sample{now, spent})
	for len(m.samples) > 1 && m.samples[1].at <= now-rateTime {
		m.samples = m.samples[1:]
	}
}

// rate returns how much of what l counts was spent a second in the last minute.
func (m *meters) rate(l evolve.Limit, now int64, spent *spent) float64 {
	if len(m.samples) == 0 || now <= m.samples[0].at {
		return 0
	}
	first := m.samples[0]
	return (spent.of(l) - first.spent.of(l)) / (float64(now-first.at) / 1000)
}

// list returns the meters: those of limits, and those of sums that are not 0. The time is among the facts.
func (m *meters) list(l *runLog) []meterState {
	list := []meterState{}
	spent, now, told := l.spent(), l.run.Clock.Now(), l.run.Budget
	for _, limit := range metered {
		meter := meterState{Name: limit.Counts, Unit: limit.Unit, Spent: spent.of(limit), Limit: limitOf(l.run, limit.Name), Rate: finite(m.rate(limit, now, &spent))}
		if told != nil {
			meter.Reserved = finite(limit.Amount(told.Reserved))
			if meter.Limit > 0 { // what the budget counts is what its limit ends, and more than was seen to be used
				meter.Spent = max(meter.Spent, finite(limit.Amount(told.Spent)))
			}
		}
		if meter.Limit > 0 || meter.Spent != 0 && limit.Name != "WallTime" {
			list = append(list, meter)
		}
	}
	return list
}

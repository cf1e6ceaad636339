package view

import (
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/llm"
)

// meters measure spending and its rate.
type meters struct {
	samples []sample // of the last minute, at most one per second
}

// A sample is the spending at a time.
type sample struct {
	at    int64
	spent spent
}

// spent is a run's spending, by limit.
type spent struct {
	books.Amounts
	rounds  int
	seconds float64
}

// of returns the spending that l counts.
func (s *spent) of(l evolve.Limit) float64 {
	switch l.Name {
	case "Rounds":
		return float64(s.rounds)
	case "WallTime":
		return s.seconds
	}
	return l.Amount(s.Amounts)
}

// metered are the limits whose spending a page shows.
var metered = slices.DeleteFunc(evolve.Limits(), func(l evolve.Limit) bool { return l.Counts == "" })

// spent returns the run's spending.
func (l *runLog) spent() spent {
	run := l.run
	return spent{
		Amounts: books.Amounts{
			Calls: run.Spent.Calls, Evaluations: run.Evaluated, Stalls: run.Attempts[llm.Stall], Tokens: run.Spent.Tokens.All(),
			FLOPs: run.Spent.FLOPs,
			Money: run.Spent.Money, EvalTime: time.Duration(run.EvalTime), TuneEvaluations: run.Tuned,
		},
		rounds: len(run.Rounds), seconds: float64(run.Clock.Now()) / 1000,
	}
}

// rateTime is the period that rates are taken over, in milliseconds.
const rateTime = 60_000

// sample records the current spending.
func (m *meters) sample(now int64, spent spent) {
	if n := len(m.samples); n > 0 && now-m.samples[n-1].at < 1000 {
		return
	}
	m.samples = append(m.samples, sample{now, spent})
	for len(m.samples) > 1 && m.samples[1].at <= now-rateTime {
		m.samples = m.samples[1:]
	}
}

// rate returns the spending that l counts per second, over the last minute.
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
		meter := meterState{Name: limit.Counts, Unit: limit.Unit, Spent: spent.of(limit), Limit: limitOf(l.run, limit.Name),
			Rate: finite(m.rate(limit, now, &spent))}
		if told != nil {
			meter.Reserved = finite(limit.Amount(told.Reserved))
			if meter.Limit > 0 { // the budget's count, which includes reservations, and which its limit applies to
				meter.Spent = max(meter.Spent, finite(limit.Amount(told.Spent)))
			}
		}
		if meter.Limit > 0 || meter.Spent != 0 && limit.Name != "WallTime" {
			list = append(list, meter)
		}
	}
	return list
}

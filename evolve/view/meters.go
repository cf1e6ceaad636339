package view

import (
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// meters measure what is spent, and how fast.
type meters struct {
	evaluations int
	tuned       int // tune evaluations
	evalTime    time.Duration
	told        *journal.Ledger // the last that the journal holds; nil for none
	samples     []sample        // of the last minute, at most one a second
}

// A sample is what was spent at a time.
type sample struct {
	at    int64
	spent amounts
}

// amounts are what meters show, in the order of meterNames.
type amounts [10]float64

// meterNames say of each amount its name, its unit and the field of the budget that limits it.
var meterNames = [len(amounts{})]struct{ name, unit, limit string }{
	{"Calls", "calls", "Calls"}, {"Tokens", "tokens", "Tokens"}, {"FLOPs", "FLOPs", "FLOPs"}, {"Money", "", "Money"},
	{"Evaluations", "evaluations", "Evaluations"}, {"Evaluators' time", "s", "EvalTime"}, {"Stalls", "attempts", "Stalls"},
	{"Rounds", "rounds", "Rounds"}, {"Time", "s", "WallTime"}, {"Tune evaluations", "evaluations", "TuneEvaluations"},
}

// amountsOf returns amounts of a journal in the order of meterNames.
func amountsOf(a journal.Amounts) amounts {
	return amounts{float64(a.Calls), float64(a.Tokens), a.FLOPs, a.Money, float64(a.Evaluations), a.EvalTime.Seconds(), float64(a.Stalls), 0, 0, float64(a.TuneEvaluations)}
}

// spent returns what the run has spent.
func (l *runLog) spent() amounts {
	c := l.calls.spent
	return amounts{float64(c.calls), float64(c.tokens), c.flops, c.money, float64(l.meters.evaluations), l.meters.evalTime.Seconds(),
		float64(l.calls.stalls), float64(len(l.rounds.Arm)), float64(l.clock.now()) / 1000, float64(l.meters.tuned)}
}

// rateTime is over how long rates are taken, in milliseconds.
const rateTime = 60_000

// sample notes what is spent now.
func (m *meters) sample(now int64, spent amounts) {
	if n := len(m.samples); n > 0 && now-m.samples[n-1].at < 1000 {
		return
	}
	m.samples = append(m.samples, sample{now, spent})
	for len(m.samples) > 1 && m.samples[1].at <= now-rateTime {
		m.samples = m.samples[1:]
	}
}

// rate returns how much of an amount was spent a second in the last minute.
func (m *meters) rate(i int, now int64, spent amounts) float64 {
	if len(m.samples) == 0 || now <= m.samples[0].at {
		return 0
	}
	first := m.samples[0]
	return (spent[i] - first.spent[i]) / (float64(now-first.at) / 1000)
}

// list returns the meters: those of limits, and those of sums that are not 0. The time is among the facts.
func (m *meters) list(l *runLog) []meterState {
	list := []meterState{}
	spent, now := l.spent(), l.clock.now()
	for i, name := range meterNames {
		meter := meterState{Name: name.name, Unit: name.unit, Spent: spent[i], Limit: l.config.limit(name.limit), Rate: finite(m.rate(i, now, spent))}
		if m.told != nil {
			meter.Reserved = finite(amountsOf(m.told.Reserved)[i])
			if meter.Limit > 0 { // what the budget counts is what its limit ends, and more than was seen to be used
				meter.Spent = max(meter.Spent, finite(amountsOf(m.told.Spent)[i]))
			}
		}
		if meter.Limit > 0 || meter.Spent != 0 && name.limit != "WallTime" {
			list = append(list, meter)
		}
	}
	return list
}

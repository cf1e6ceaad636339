package evolve

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// tellStart records what an arm begins with, for readers of the journal, unless an earlier incarnation drew an arm: it
// told of them all before.
func (d *driver) tellStart(arm int, start eval.Candidate) error {
	j := d.cfg.Journal
	if _, replaying := d.replaying(); j == nil || replaying {
		return nil
	}
	var program string
	if start.Program != "" {
		var err error
		if program, err = j.WriteProgram(start.Program); err != nil {
			return err
		}
	}
	r := kept(start.Result)
	return j.Tell(journal.Record{Kind: journal.Start, Arm: &arm, Program: program, Proposal: journal.Proposal{Valid: r.Valid, Score: r.Score, Reason: r.Reason}})
}

// ranBy returns what a journal says of the run beside what is compared: its models and arms, and the limits.
func (c Config) ranBy() (models []journal.Model, arms []journal.Arm, l *journal.Ledger) {
	for _, m := range c.Budget.Models {
		m = m.WithDefaults()
		models = append(models, journal.Model{Key: m.Key, Name: m.Name, ActiveParams: m.ActiveParams, Price: (*journal.Price)(m.Price)})
	}
	for _, a := range c.Arms {
		arm := journal.Arm{Name: nameOf(a)}
		if s, ok := a.(interface{ Seed() uint32 }); ok {
			seed := s.Seed()
			arm.Seed = &seed
		}
		arms = append(arms, arm)
	}
	return models, arms, &journal.Ledger{Limit: c.Budget.shown()}
}

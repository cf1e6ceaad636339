package evolve

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A birth is what readers of the journal and the observer are told of a child.
type birth struct {
	child Child
	step  int        // of its search, from 1
	call  journal.ID // of the call that made it; zero if there was none, or it is not known
	err   error      // what more than its own failure ended it
	lost  bool       // a failed call cost it its evaluation
}

// tell tells what became of a child of the step, once. A Breeder does so when it has taken the child in, and the run
// does for the children of an arm that is not a Breeder.
func (s *step) tell(b birth) error {
	for p := s; p != nil; p = p.parent {
		p.note(b.address())
	}
	if b.child.HasProgram() {
		b.child.Hash = journal.KeyOf(b.child.Program).String()
	}
	if s.search != "" {
		b.child.Labels = maps.Clone(b.child.Labels)
		if b.child.Labels == nil {
			b.child.Labels = make(map[string]string)
		}
		b.child.Labels["search"] = s.search
	}
	err := s.shared.record(s.pull, s.past, b)
	if s.births != nil && s.pull >= 0 {
		select {
		case s.births <- b.event(s.pull):
		case <-s.gone:
		}
	}
	return err
}

// note takes down that a child is told of.
func (s *step) note(child address) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = make(map[address]bool)
	}
	s.told[child] = true
}

// An address tells the children of a step apart.
type address struct{ index, id int }

func (b birth) address() address { return address{b.child.Index, b.child.ID} }

// event returns what the observer is told. The search goes on meanwhile, and may change the maps of its child's result.
func (b birth) event(pull int) Event {
	c := b.child
	c.Result = c.Result.Clone()
	return Event{Kind: EventChild, Pull: bandit.Pull{ID: pull}, Generation: Generation{Index: b.step}, Child: c}
}

// record writes the child's record, for readers of the journal. Replay does not compare these records, so fields can
// be added to them and older journals still fit. A pull whose end is in the file has its records.
func (s *shared) record(pull int, past journal.Past, b birth) error {
	if s.journal == nil || past.Ended || s.journal.Finished() {
		return nil
	}
	c := b.child
	r := journal.Record{Kind: journal.Child, Pull: &pull, Child: &c.Index, Step: b.step, Ledger: s.spentNow(), Proposal: c.Proposal()}
	if !c.Scored() {
		r.State = b.unscored()
	}
	r.Limit, _ = Refused(b.err)
	if b.call != (journal.ID{}) {
		r.Key, r.N = b.call.String(), b.call.N
	}
	if c.HasProgram() { // the file has the text if it was evaluated, and then perhaps with other space at its end
		var err error
		if r.Program, err = s.journal.WriteProgram(c.Program); err != nil {
			return err
		}
	}
	return s.journal.Tell(r)
}

// spentNow returns the ledger for a child's record, and nil if a child had one in the last second: readers add calls and
// evaluations up themselves, and see what is set aside often enough.
func (s *shared) spentNow() *journal.Ledger {
	now := time.Now().UnixMilli()
	if last := s.ledgerAt.Load(); now-last < 1000 || !s.ledgerAt.CompareAndSwap(last, now) {
		return nil
	}
	l := s.ledger.Record()
	return &l
}

// kept returns a result as a record holds it. One that an arm made up itself may have a score that is not finite, which
// JSON cannot hold, and a reason of any length.
func kept(r eval.Result) eval.Result {
	clean := eval.Result{Valid: r.Valid, Score: r.Score, Reason: r.Reason}.Clean()
	if !r.Valid && r.Reason == "" {
		clean.Reason = "" // Clean makes one up
	}
	return clean
}

// bounded returns labels with values of at most eval.MaxName bytes: where a child stands may be taken from what its
// program says.
func bounded(labels map[string]string) map[string]string {
	short := maps.Clone(labels)
	for kind, name := range short {
		if len(name) > eval.MaxName {
			short[kind] = strings.ToValidUTF8(name[:eval.MaxName], "")
		}
	}
	return short
}

// reason returns why the child has no program or no score, in the length that a result's reason has.
func reason(c Child) string {
	why := cmp.Or(c.Err, c.Result.Reason)
	if why == "" {
		return ""
	}
	return eval.Invalid("%s", why).Clean().Reason
}

// unscored returns what became of a child that has neither a score nor a reason from its evaluation.
func (b birth) unscored() journal.State {
	limit, _ := Refused(b.err)
	switch {
	case limit != "":
		return journal.StateRefused
	case b.err != nil:
		return journal.StateAbandoned
	case b.lost:
		return journal.StateFailed
	}
	return b.child.State()
}

// untold tells of the children of an outcome that no Breeder told of.
func (d *driver) untold(o outcome) error {
	for _, c := range o.gen.Children {
		b := birth{child: c, step: o.gen.Index}
		if o.told[b.address()] {
			continue
		}
		if err := d.shared.record(o.pull.ID, o.pull.past, b); err != nil {
			return err
		}
		e := b.event(o.pull.ID)
		e.Pull = o.pull.Pull
		d.observe(e)
	}
	return nil
}

// born tells the observer of a child of a step that is under way.
func (d *driver) born(e Event) {
	for _, p := range d.pending {
		if p.ID == e.Pull.ID {
			e.Pull = p.Pull
		}
	}
	d.observe(e)
}

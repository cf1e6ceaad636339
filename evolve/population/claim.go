package population

import (
	"context"
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
)

// guarded calls f, which asks the archive for something. What that panics with is an error that names it.
func (p *Population) guarded(f func()) error { return step.Guard(named("Archive", p.cfg.Archive), f) }

// rescore scores those of the best members again that are due.
func (p *Population) rescore(ctx context.Context, turn *evolve.Turn) error {
	if !p.cfg.rescores() {
		return nil
	}
	var members []Member
	if err := p.guarded(func() {
		members = field(byRank(p.cfg.Archive.Members()))
		members = slices.Clone(members[:min(p.cfg.Noise.Keep, len(members))])
	}); err != nil {
		return err
	}
	programs := make([]eval.Candidate, len(members))
	for i, m := range members {
		programs[i] = m.Candidate
	}
	results, err := p.Rescore(ctx, turn, programs)
	if err != nil {
		return fmt.Errorf("population: %w", err)
	}
	return p.guarded(func() {
		changed := false
		for i, r := range results {
			if r == nil {
				continue
			}
			for _, a := range partsOf(p.cfg.Archive) { // copies on other islands too
				p.rescored(a, *r, func(m *Member) bool { return m.ID == members[i].ID })
			}
			changed = true
		}
		if changed {
			p.lead()
		}
	})
}

// rescored gives members of a part of the archive another result, and reports whether there are any.
func (p *Population) rescored(a Archive, r eval.Result, which func(*Member) bool) (found bool) {
	for _, m := range slices.Clone(a.Members()) {
		if which(&m) {
			m.Result = r.Clone()
			a.Add(m)
			p.elders.update(m)
			found = true
		}
	}
	return found
}

// lead makes the best member of now the best so far.
func (p *Population) lead() {
	if members := byRank(p.cfg.Archive.Members()); len(members) > 0 {
		best := members[0]
		p.leader = &best
		p.Lead(evolve.Child{Candidate: best.Candidate, ID: best.ID})
	}
}

// Demote reverts to the best of the time when the last step began. The demoted program stays in the archive as an
// invalid one, which breeds no more and gives way to any other. If it has left the archive for programs that score the
// same, these are demoted too. If the best before it has left the archive for it, that one is offered again.
func (p *Population) Demote() {
	best, found := p.Best(), false
	p.Breeder.Demote()
	to := p.step.prior
	if to == nil {
		first := NewMember(p.Initial(), 0)
		to = &first
	}
	if best.Program == to.Program {
		return
	}
	p.leader = to
	parts := partsOf(p.cfg.Archive)
	if err := p.guarded(func() {
		for _, a := range parts {
			found = p.demote(a, to, func(m *Member) bool { return m.Program == best.Program }) || found
		}
		for _, a := range parts {
			if !found {
				p.demote(a, to, func(m *Member) bool { return !best.Better(m.Candidate) && !m.Better(best) })
			}
		}
		if !slices.ContainsFunc(parts, func(a Archive) bool { return hasProgram(a, to.Program) }) {
			p.cfg.Archive.Add(*to)
		}
	}); err != nil {
		p.Fail(err)
	}
}

// demote makes members invalid in a part of the archive, and puts the best before them back there. It reports whether
// there are any.
func (p *Population) demote(a Archive, to *Member, gone func(*Member) bool) (found bool) {
	found = p.rescored(a, eval.Invalid("demoted: a second evaluator does not find it better than the best before it"), gone)
	if found && !hasProgram(a, to.Program) {
		a.Add(to.apart())
	}
	return found
}

// hasProgram reports whether a member of an archive is the program.
func hasProgram(a Archive, program string) bool {
	return slices.ContainsFunc(a.Members(), func(m Member) bool { return m.Program == program })
}

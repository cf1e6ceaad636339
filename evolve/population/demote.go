package population

import "github.com/evoalloc/evoalloc/eval"

// Demote reverts to the best of the time when the last step began. The demoted program stays in the archive as an
// invalid one, which breeds no more and gives way to any other. If it has left the archive for programs that score the
// same, these are demoted too. If the best before it has left the archive for it, that one is offered again.
func (p *Population) Demote() {
	best, found := p.Best(), false
	p.Breeder.Demote()
	to := p.step.prior
	if to == nil {
		to = member(p.Initial().Candidate, 0)
	}
	if best.Program == to.known().Program {
		return
	}
	p.leader = to
	err := p.ask(func() {
		for _, a := range p.parts() {
			found = p.demote(a, to, func(m *Member) bool { return m.Program == best.Program }) || found
		}
		for _, a := range p.parts() {
			if !found {
				p.demote(a, to, func(m *Member) bool { return !best.Better(m.Candidate) && !m.Better(best) })
			}
		}
		if p.member(to.known().Program) == nil {
			p.cfg.Archive.Add(to)
		}
		rerank(p.cfg.Archive)
	})
	if err != nil {
		p.Fail(err)
	}
}

// demote makes members invalid in a part of the archive, and puts the best before them back there. It reports whether
// there are any.
func (p *Population) demote(a Archive, to *Member, gone func(*Member) bool) (found bool) {
	restore(a.Members())
	for _, m := range a.Members() {
		if gone(m) {
			found = true
			m.score(eval.Invalid("demoted: a second evaluator does not find it better than the best before it"))
		}
	}
	if !found {
		return false
	}
	rerank(a)
	for _, m := range a.Members() {
		if m.Program == to.known().Program {
			return true
		}
	}
	a.Add(to.copied())
	return true
}

// member returns the member of the archive with a program, nil for none.
func (p *Population) member(program string) *Member {
	for _, a := range p.parts() {
		for _, m := range a.Members() {
			if m.known().Program == program {
				return m
			}
		}
	}
	return nil
}

// parts returns the parts of the archive, or the archive itself.
func (p *Population) parts() []Archive {
	if islands, ok := p.cfg.Archive.(*Islands); ok {
		return islands.Of
	}
	return []Archive{p.cfg.Archive}
}

package population

import "github.com/evoalloc/evoalloc/eval"

// Demote takes back the best that the last step found: the best is again what it was when that step began. The program stays in the archive as an invalid one, which breeds no more and gives way to
// any other. If the best before it has left the archive for it, that one is offered again.
func (p *Population) Demote() {
	best := p.Best().Program
	p.Breeder.Demote()
	to := p.prior
	if to == nil {
		to = member(p.Initial().Candidate, 0)
	}
	if best == to.known().Program {
		return
	}
	p.leader = to
	err := p.ask(func() {
		for _, a := range p.parts() {
			p.demote(a, best, to)
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

// demote makes program invalid in a part of the archive, and puts the best before it back there.
func (p *Population) demote(a Archive, program string, to *Member) {
	restore(a.Members())
	found := false
	for _, m := range a.Members() {
		if m.Program == program {
			found = true
			m.score(eval.Invalid("demoted: a second evaluator does not find it better than the best before it"))
		}
	}
	if !found {
		return
	}
	rerank(a)
	for _, m := range a.Members() {
		if m.Program == to.known().Program {
			return
		}
	}
	a.Add(to.copied())
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
	if parted, ok := p.cfg.Archive.(partedArchive); ok {
		return parted.Parts()
	}
	return []Archive{p.cfg.Archive}
}

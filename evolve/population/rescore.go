package population

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// rescore scores those of the best members again that are due.
func (p *Population) rescore(ctx context.Context, turn *evolve.Turn) error {
	if !p.cfg.rescores() {
		return nil
	}
	var members []*Member
	if err := p.ask(func() { members = field(p.order()) }); err != nil {
		return err
	}
	programs := make([]eval.Candidate, min(p.cfg.Noise.Keep, len(members)))
	for i := range programs {
		programs[i] = members[i].Candidate
	}
	results, err := p.Rescore(ctx, turn, programs)
	if err != nil {
		return fmt.Errorf("population: %w", err)
	}
	return p.ask(func() {
		changed := false
		for i, r := range results {
			if r != nil {
				p.sampled(members[i].ID, *r)
				changed = true
			}
		}
		if changed {
			rerank(p.cfg.Archive)
			p.lead()
		}
	})
}

// lead makes the best member of now the best so far.
func (p *Population) lead() {
	if members := p.order(); len(members) > 0 {
		p.leader = members[0]
		p.Lead(p.leader.known().child())
	}
}

// sampled gives the member with an ID, and its copies on other islands, the result of all of its samples.
func (p *Population) sampled(id int, r eval.Result) {
	for _, a := range p.parts() {
		for _, m := range a.Members() {
			if m.known().id == id {
				m.score(r)
			}
		}
	}
}

// rerank tells an archive of this package that scores have changed.
func rerank(a Archive) {
	if r, ok := a.(interface{ rerank() }); ok {
		r.rerank()
	}
}

package population

import (
	"context"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/noise"
)

// maxRescore is the most members that may be scored again for each child.
const maxRescore = 64

// rescores reports whether members are scored again.
func (p *Population) rescores() bool { return p.cfg.Noisy && p.cfg.Rescore > 0 }

// count notes a child for the number of members that are due.
func (p *Population) count(c evolve.Child) {
	if !p.rescores() {
		return
	}
	distance := math.NaN()
	if c.Scored() && c.Result.Valid {
		distance = c.Result.Score - p.Best().Result.Score
	}
	p.tally.Child(distance)
}

// rescore scores those of the best members again that are due. Samples are taken in by rank, whichever ends first.
//
// Children are not scored several times: there are many, and what does the harm is a parent with a lucky score.
func (p *Population) rescore(ctx context.Context, turn *evolve.Turn) error {
	if !p.rescores() {
		return nil
	}
	members, err := p.ranked()
	if err != nil {
		return err
	}
	members = field(members)
	members = members[:min(p.cfg.Keep, len(members))]
	stats := make([]noise.Stat, len(members))
	for i, m := range members {
		stats[i] = noise.Stat{Mean: m.Result.Score, N: m.Result.N()}
	}
	due := p.tally.Due(stats, p.left)
	if len(due) == 0 {
		return nil
	}
	p.left -= len(due)
	programs := make([]string, len(due))
	for i, at := range due {
		programs[i] = members[at].Program
	}
	results, err := p.Resample(ctx, turn, programs)
	if err != nil {
		return fmt.Errorf("population: %w", err)
	}
	return p.ask(func() {
		for i, at := range due {
			if r, m := results[i], members[at]; r != nil {
				if r.Valid && m.Result.Valid {
					p.tally.Sample(noise.Stat{Mean: m.Result.Score, N: m.Result.N()}, r.Score, r.N())
				}
				p.sampled(m.ID, eval.Pool(m.Result, *r))
			}
		}
		rerank(p.cfg.Archive)
		p.lead()
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
	parts := []Archive{p.cfg.Archive}
	if parted, ok := p.cfg.Archive.(partedArchive); ok {
		parts = parted.Parts()
	}
	for _, a := range parts {
		for _, m := range a.Members() {
			if m.known().id == id {
				m.score(r)
			}
		}
	}
}

// rerank tells an archive that scores have changed.
func rerank(a Archive) {
	if r, ok := a.(rerankedArchive); ok {
		r.Rerank()
	}
}

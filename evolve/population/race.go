package population

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/evolve"
)

// race has a child that looks better than the best member race it, if the search does that, and reports whether it lost or
// could not be told from it. Both have the samples then.
func (p *Population) race(ctx context.Context, turn *evolve.Turn, c *evolve.Child) (lost bool, err error) {
	best := p.leader
	was := best.known()
	if p.cfg.Race == 0 || !c.Scored() || !c.Result.Valid || !was.Result.Valid || !c.Better(was.Candidate) {
		return false, nil
	}
	won, kept, better, err := p.Race(ctx, turn, c.Candidate, was.Candidate, p.cfg.Race, p.cfg.RaceSamples)
	if err != nil {
		return false, fmt.Errorf("population: %w", err)
	}
	c.Result = won
	best.score(kept)
	p.sampled(was.id, kept)
	rerank(p.cfg.Archive)
	return !better, nil
}

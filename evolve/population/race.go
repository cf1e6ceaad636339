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
	if p.cfg.Race == 0 || !c.Scored() || !c.Result.Valid || !best.Result.Valid || !c.Better(best.Candidate) {
		return false, nil
	}
	won, kept, better, err := p.Race(ctx, turn, c.Candidate, best.Candidate, p.cfg.Race, p.cfg.RaceSamples)
	if err != nil {
		return false, fmt.Errorf("population: %w", err)
	}
	c.Result, best.Result = won, kept
	p.sampled(best.ID, kept)
	rerank(p.cfg.Archive)
	return !better, nil
}

package population

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"gonum.org/v1/gonum/stat"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// A Reranker is an archive that is told when scores of its members have changed. Those of this package are.
type Reranker interface {
	Archive
	Rerank()
}

// rescore scores the best members again. Samples are taken in by rank, whichever ends first.
//
// Children are not scored several times: there are many, and what does the harm is a parent with a lucky score.
func (p *Population) rescore(ctx context.Context, turn *evolve.Turn) error {
	if p.cfg.Rescore == 0 || !p.seeded || p.Breeder.Done() {
		return nil
	}
	members := byRank(field(p.cfg.Archive.Members()))
	members = members[:min(p.cfg.Rescore, len(members))]
	results, errs := make([]eval.Result, len(members)), make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		sample := 1 + int(p.stream("rescore", p.Steps()*p.cfg.Rescore+i).Uint32())
		wg.Go(func() { results[i], errs[i] = turn.Evaluate(ctx, p.cfg.Task, m.Program, sample) })
	}
	wg.Wait()
	for i, m := range members {
		if _, refused := evolve.Refused(errs[i]); refused {
			continue // the turn has noted it, and Breed ends the step
		}
		if errs[i] != nil {
			return fmt.Errorf("population: scoring program %d again: %w", m.ID, errs[i])
		}
		p.sampled(m.ID, results[i])
	}
	rerank(p.cfg.Archive)
	return nil
}

// sampled takes in another sample of the member with an ID, and of its copies on other islands.
func (p *Population) sampled(id int, r eval.Result) {
	parts := []Archive{p.cfg.Archive}
	if parted, ok := p.cfg.Archive.(Parted); ok {
		parts = parted.Parts()
	}
	for _, a := range parts {
		for _, m := range a.Members() {
			if m.ID == id {
				m.sample(r)
			}
		}
	}
}

// sample makes m's score the mean of its samples. The metrics score_sd and score_n are their standard deviation and
// their number. A program that is invalid once is a bad one.
func (m *Member) sample(r eval.Result) {
	if len(m.Samples) == 0 {
		m.Samples = []float64{m.Result.Score}
	}
	if !r.Valid {
		m.Result = r
		return
	}
	m.Samples = append(m.Samples, r.Score)
	mean, sd := stat.MeanStdDev(m.Samples, nil)
	metrics := maps.Clone(m.Result.Metrics)
	if metrics == nil {
		metrics = make(map[string]float64)
	}
	metrics["score_sd"], metrics["score_n"] = sd, float64(len(m.Samples))
	m.Result.Score, m.Result.Metrics = mean, metrics
	m.Result = m.Result.Clean()
}

// rerank tells an archive that scores have changed.
func rerank(a Archive) {
	if r, ok := a.(Reranker); ok {
		r.Rerank()
	}
}

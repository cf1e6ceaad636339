package analysis

import (
	"cmp"
	"slices"
)

// A sampler returns samples of scores with the runs of each stratum in ascending order. Most statistics sort, which
// takes nearly all of a bootstrap's time. A sampler sorts the scores once, and makes each sample by counting.
type sampler struct {
	sorted Scores
	rank   [][]int // by stratum and run: its rank in sorted
	counts []int   // how often each rank of a stratum was drawn
	into   Scores  // the sample
}

func newSampler(s Scores) *sampler {
	p := &sampler{sorted: make(Scores, len(s)), rank: make([][]int, len(s)), counts: make([]int, slices.Max(s.sizes())),
		into: make(Scores, len(s))}
	for i, stratum := range s {
		order := make([]int, len(stratum))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(stratum[a], stratum[b]) })
		p.sorted[i], p.rank[i] = make([]float64, len(stratum)), make([]int, len(stratum))
		for place, j := range order {
			p.sorted[i][place], p.rank[i][j] = stratum[j], place
		}
	}
	return p
}

// take returns the runs that draw names. The next call overwrites them.
func (p *sampler) take(draw [][]int) Scores {
	for i, drawn := range draw {
		counts := p.counts[:len(p.sorted[i])]
		clear(counts)
		for _, j := range drawn {
			counts[p.rank[i][j]]++
		}
		p.into[i] = p.into[i][:0]
		for place, n := range counts {
			for range n {
				p.into[i] = append(p.into[i], p.sorted[i][place])
			}
		}
	}
	return p.into
}

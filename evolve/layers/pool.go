package layers

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/lex"
)

// tooAlike is how alike two bases are of which a pool has one.
const tooAlike = 0.95

// pick returns the bases that are frozen of those that were found, at most so many, in the order in which they are
// taken. It depends on the order of found only where scores are equal: the older is taken then.
func pick(found []eval.Candidate, most int, language string) []eval.Candidate {
	var left []eval.Candidate
	cases := false
	for _, c := range found {
		if c.Result.Valid {
			left = append(left, c)
			cases = cases || len(c.Result.Cases) > 0
		}
	}
	slices.SortStableFunc(left, func(a, b eval.Candidate) int { return cmp.Compare(b.Result.Score, a.Result.Score) })
	var pool []eval.Candidate
	for len(pool) < most && len(left) > 0 {
		at := 0 // the best by score
		if cases {
			if at = mostCover(pool, left); at < 0 {
				break
			}
		}
		if !slices.ContainsFunc(pool, func(c eval.Candidate) bool { return alike(c.Program, left[at].Program, language) }) {
			pool = append(pool, left[at])
		}
		left = slices.Delete(left, at, at+1)
	}
	return pool
}

// alike reports whether a pool has one of two programs.
func alike(a, b, language string) bool {
	return strings.TrimSpace(a) == strings.TrimSpace(b) || lex.Alike(a, b, language) >= tooAlike
}

// casesOf returns the scores of a base by case: the score alone if it has none.
func casesOf(c eval.Candidate) []float64 {
	if len(c.Result.Cases) == 0 {
		return []float64{c.Result.Score}
	}
	return c.Result.Cases
}

// covered returns the best score of the bases at each case.
func covered(pool []eval.Candidate) []float64 {
	var best []float64
	for _, c := range pool {
		for i, s := range casesOf(c) {
			if i == len(best) {
				best = append(best, math.Inf(-1))
			}
			best[i] = max(best[i], s)
		}
	}
	return best
}

// mostCover returns the place of the base that raises the sum of the best scores by case the most, or −1 if none does.
// The first of an empty pool is the best by score.
func mostCover(pool, left []eval.Candidate) int {
	if len(pool) == 0 {
		return 0
	}
	best, at, most := covered(pool), -1, 0.0
	for i, c := range left {
		gain := 0.0
		for j, s := range casesOf(c) {
			if j < len(best) {
				gain += max(0, s-best[j])
			}
		}
		if gain > most {
			at, most = i, gain
		}
	}
	return at
}

// Digest names a pool by the texts of its programs, for evaluators to print.
func Digest(pool []eval.Candidate) string {
	h := sha256.New()
	for _, c := range pool {
		fmt.Fprintf(h, "%d:%s", len(c.Program), c.Program)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// found is what stage one has made so far, as much of it as a pool may need: the best by score, and the best at some
// case.
type found struct {
	seen   map[[sha256.Size]byte]bool
	best   population.Archive
	fronts population.Archive
	n      int
}

// mostFound is how many of the best bases are kept until the pool is frozen.
const mostFound = 1000

func newFound() *found {
	return &found{seen: make(map[[sha256.Size]byte]bool), best: population.Top(mostFound), fronts: population.Fronts()}
}

// add takes down a base that is valid and new.
func (f *found) add(c eval.Candidate) {
	sum := sha256.Sum256([]byte(strings.TrimSpace(c.Program)))
	if !c.Result.Valid || f.seen[sum] {
		return
	}
	f.seen[sum] = true
	m := &population.Member{Candidate: c, ID: f.n}
	f.n++
	f.best.Add(m)
	f.fronts.Add(m)
}

// all returns what is kept, in the order in which it was found.
func (f *found) all() []eval.Candidate {
	members := slices.Concat(f.best.Members(), f.fronts.Members())
	slices.SortFunc(members, func(a, b *population.Member) int { return a.ID - b.ID })
	var all []eval.Candidate
	for _, m := range slices.Compact(members) {
		all = append(all, m.Candidate)
	}
	return all
}

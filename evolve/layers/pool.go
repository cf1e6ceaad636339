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
)

// A Rule says in which order bases are taken into a pool.
type Rule int

// The rules.
const (
	// ByScore takes the best by Result.Score.
	ByScore Rule = iota
	// ByFronts takes those that are the best at some of Result.Cases, as [population.Fronts] keeps them, the one that
	// is the best at the most cases first.
	ByFronts
	// ByCover takes one after the other the base that raises the most what the pool would score with the best of it at
	// each case, and ends where none does. What is raised is a submodular function, so the greedy choice comes to at
	// least 1 − 1/e of the most that as many bases can raise it (G. Nemhauser, L. Wolsey, M. Fisher, "An analysis of
	// approximations for maximizing submodular set functions", 1978).
	ByCover
)

// String names the rule.
func (r Rule) String() string {
	switch r {
	case ByScore:
		return "score"
	case ByFronts:
		return "fronts by case"
	case ByCover:
		return "cover of cases"
	}
	return fmt.Sprintf("Rule(%d)", int(r))
}

// A Pool says which bases are frozen. Invalid ones never are, and of equal programs one is.
type Pool struct {
	K  int  // the most bases; 0 means 8
	By Rule // in which order they are taken; 0 means by score
	// Similar is how many bases of a pool may be similar to each other; 0 means 1, that none may. The ones that come
	// first by the rule stay.
	Similar int
	// Alike is how alike two bases have to be to be similar, as [population.Alike] measures it; 0 means 0.95.
	Alike float64
	// Language is that of the programs, "javascript" or "python", so that comments and layout do not count; "" means
	// text.
	Language string
}

func (p Pool) withDefaults() Pool {
	p.K, p.Similar, p.Alike = cmp.Or(p.K, 8), cmp.Or(p.Similar, 1), cmp.Or(p.Alike, 0.95)
	return p
}

func (p Pool) validate() error {
	switch {
	case p.K < 0:
		return fmt.Errorf("layers: Pool.K is %d: need 0 for 8 bases, or more", p.K)
	case p.By < ByScore || p.By > ByCover:
		return fmt.Errorf("layers: Pool.By is %d: need ByScore, ByFronts or ByCover", p.By)
	case p.Similar < 0:
		return fmt.Errorf("layers: Pool.Similar is %d: need 0 for one base, or more", p.Similar)
	case !(p.Alike >= 0 && p.Alike <= 1):
		return fmt.Errorf("layers: Pool.Alike is %v: need a likeness in [0, 1], 0 for 0.95", p.Alike)
	}
	return nil
}

// Pick returns the bases that are frozen of those that were found, in the order in which the rule takes them. It depends
// on their order only where scores are equal: the older is taken then.
func (p Pool) Pick(found []eval.Candidate) []eval.Candidate {
	p = p.withDefaults()
	left := make([]eval.Candidate, 0, len(found))
	for _, c := range found {
		if c.Result.Valid {
			left = append(left, c)
		}
	}
	slices.SortStableFunc(left, func(a, b eval.Candidate) int { return cmp.Compare(b.Result.Score, a.Result.Score) })
	if p.By == ByFronts {
		left = frontOrder(left)
	}
	var pool []eval.Candidate
	for len(pool) < p.K && len(left) > 0 {
		at := 0
		if p.By == ByCover {
			if at = mostCover(pool, left); at < 0 {
				break
			}
		}
		if p.fits(pool, left[at]) {
			pool = append(pool, left[at])
		}
		left = slices.Delete(left, at, at+1)
	}
	return pool
}

// fits reports whether a base may be added: neither it nor any that is like it would have too many alike.
func (p Pool) fits(pool []eval.Candidate, c eval.Candidate) bool {
	similar := 0
	for _, d := range pool {
		switch {
		case strings.TrimSpace(d.Program) == strings.TrimSpace(c.Program):
			return false
		case population.Alike(d.Program, c.Program, p.Language) >= p.Alike:
			similar++
		}
	}
	return similar < p.Similar
}

// String says the rule.
func (p Pool) String() string {
	p = p.withDefaults()
	return fmt.Sprintf("%d by %v, at most %d similar at %v", p.K, p.By, p.Similar, p.Alike)
}

// frontOrder returns the bases that are needed for some case to have its best, those on the most fronts first.
func frontOrder(sorted []eval.Candidate) []eval.Candidate {
	var archive population.Fronts
	for i, c := range sorted {
		archive.Add(&population.Member{Candidate: c, ID: i})
	}
	var kept []eval.Candidate
	for _, m := range archive.Members() {
		kept = append(kept, m.Candidate)
	}
	best := covered(kept)
	on := func(c eval.Candidate) (n int) {
		for i, s := range casesOf(c) {
			if s == best[i] {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(kept, func(a, b eval.Candidate) int { return on(b) - on(a) })
	return kept
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
	return &found{seen: make(map[[sha256.Size]byte]bool), best: population.Top(mostFound), fronts: &population.Fronts{}}
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

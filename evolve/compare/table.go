package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// A Table is the runs of a study, by family, by search and by seed. Make one with [NewTable].
type Table struct {
	Families, Searches []string // in the order in which the runs have them first
	runs               map[string]map[string][]Run
}

// NewTable returns the table of runs. So that runs are paired, of each family only those of the seeds are in it that
// every search has there. It fails without runs, if one is there twice, or if a family is left without runs.
func NewTable(runs []Run) (*Table, error) {
	if len(runs) == 0 {
		return nil, errors.New("compare: a table without runs")
	}
	t := &Table{runs: map[string]map[string][]Run{}}
	type at struct {
		family, search string
		seed           uint64
	}
	seen, count := map[at]bool{}, map[at]int{}
	for _, r := range runs {
		if seen[at{r.Family, r.Search, r.Seed}] {
			return nil, fmt.Errorf("compare: two runs of %s on %s with seed %d: give each once", r.Search, r.Family, r.Seed)
		}
		seen[at{r.Family, r.Search, r.Seed}] = true
		count[at{family: r.Family, seed: r.Seed}]++
		if !slices.Contains(t.Families, r.Family) {
			t.Families = append(t.Families, r.Family)
			t.runs[r.Family] = map[string][]Run{}
		}
		if !slices.Contains(t.Searches, r.Search) {
			t.Searches = append(t.Searches, r.Search)
		}
	}
	for _, r := range runs {
		if count[at{family: r.Family, seed: r.Seed}] == len(t.Searches) {
			t.runs[r.Family][r.Search] = append(t.runs[r.Family][r.Search], r)
		}
	}
	for family, of := range t.runs {
		if len(of) == 0 {
			return nil, fmt.Errorf("compare: no seed of family %s has a run of each of %d searches", family, len(t.Searches))
		}
		for _, list := range of {
			slices.SortFunc(list, func(a, b Run) int { return int(int64(a.Seed - b.Seed)) })
		}
	}
	return t, nil
}

// Runs returns those of a search in a family, by seed. It is nil if there are none.
func (t *Table) Runs(family, search string) []Run { return t.runs[family][search] }

// Scores returns the true scores that a search ends with, by family and by seed.
func (t *Table) Scores(search string) analysis.Scores {
	s := make(analysis.Scores, len(t.Families))
	for i, family := range t.Families {
		for _, r := range t.Runs(family, search) {
			s[i] = append(s[i], r.Score)
		}
	}
	return s
}

// Mean returns the mean of the true scores that a search ends with in a family. It is NaN without runs.
func (t *Table) Mean(family, search string) float64 {
	return mean(t.Runs(family, search), func(r Run) float64 { return r.Score })
}

// Flattery returns by how much a search claims more than the truth, in the mean over its runs in a family.
func (t *Table) Flattery(family, search string) float64 {
	return mean(t.Runs(family, search), func(r Run) float64 { return r.Claimed - r.Score })
}

func mean(runs []Run, of func(Run) float64) float64 {
	sum := 0.0
	for _, r := range runs {
		sum += of(r)
	}
	return sum / float64(len(runs))
}

// Reach returns after how many calls nine in ten runs of a search have reached a true score in a family. It is false if
// fewer ever do.
func (t *Table) Reach(family, search string, score float64) (calls int, ok bool) {
	var took []int
	runs := t.Runs(family, search)
	for _, r := range runs {
		if i := slices.IndexFunc(r.Points, func(p Point) bool { return p.Score >= score }); i >= 0 {
			took = append(took, r.Points[i].Calls)
		}
	}
	need := int(math.Ceil(Reliably * float64(len(runs))))
	if need == 0 || len(took) < need {
		return 0, false
	}
	slices.Sort(took)
	return took[need-1], true
}

// Reliably is the share of runs that have to reach a score for it to count as reached.
const Reliably = 0.9

// ReliableScore returns the highest true score that nine in ten runs of a search end with or above, in a family. It is
// NaN without runs.
func (t *Table) ReliableScore(family, search string) float64 {
	var scores []float64
	for _, r := range t.Runs(family, search) {
		scores = append(scores, r.Score)
	}
	if len(scores) == 0 {
		return math.NaN()
	}
	slices.Sort(scores)
	return scores[len(scores)-int(math.Ceil(Reliably*float64(len(scores))))]
}

// Order puts families and searches into an order of one's own, that of the given names. Those that are not named stay
// behind these in their order.
func (t *Table) Order(families, searches []string) {
	order(t.Families, families)
	order(t.Searches, searches)
}

// order sorts list by where its items are in as.
func order(list, as []string) {
	place := func(s string) int {
		if i := slices.Index(as, s); i >= 0 {
			return i
		}
		return len(as)
	}
	slices.SortStableFunc(list, func(a, b string) int { return place(a) - place(b) })
}

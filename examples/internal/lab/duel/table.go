package duel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/compare"
)

// A Table is the runs of a study, by family, by search and by seed. Make one with [NewTable].
type Table struct {
	Families, Searches []string // in the order in which the runs have them first
	runs               map[string]map[string][]compare.Run
}

// NewTable returns the table of runs. So that runs are paired, of each family only those of the seeds are in it that
// every search has there. It fails without runs, if one is there twice, or if a family is left without runs.
func NewTable(runs []compare.Run) (*Table, error) {
	if len(runs) == 0 {
		return nil, errors.New("duel: a table without runs")
	}
	t := &Table{runs: map[string]map[string][]compare.Run{}}
	type at struct {
		family, search string
		seed           uint64
	}
	seen, count := map[at]bool{}, map[at]int{}
	for _, r := range runs {
		if seen[at{r.Family, r.Search, r.Seed}] {
			return nil, fmt.Errorf("duel: two runs of %s on %s with seed %d: give each once", r.Search, r.Family, r.Seed)
		}
		seen[at{r.Family, r.Search, r.Seed}] = true
		count[at{family: r.Family, seed: r.Seed}]++
		if !slices.Contains(t.Families, r.Family) {
			t.Families = append(t.Families, r.Family)
			t.runs[r.Family] = map[string][]compare.Run{}
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
			return nil, fmt.Errorf("duel: no seed of family %s has a run of each of %d searches", family, len(t.Searches))
		}
		for _, list := range of {
			slices.SortFunc(list, func(a, b compare.Run) int { return cmp.Compare(a.Seed, b.Seed) })
		}
	}
	return t, nil
}

// Runs returns those of a search in a family, by seed. It is nil if there are none.
func (t *Table) Runs(family, search string) []compare.Run { return t.runs[family][search] }

// Seeds returns how many seeds families have: "10", or "3 to 4" of a study that was stopped.
func (t *Table) Seeds() string {
	least, most := t.seeds()
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func (t *Table) seeds() (least, most int) {
	least = math.MaxInt
	for _, family := range t.Families {
		n := len(t.Runs(family, t.Searches[0]))
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// Against compares a search with a baseline. It fails if the table has not both.
func (t *Table) Against(search, baseline string) (compare.Comparison, error) {
	if err := t.has(search, baseline); err != nil {
		return compare.Comparison{}, err
	}
	both := slices.Compact([]string{search, baseline})
	var runs []compare.Run
	for _, family := range t.Families {
		for _, name := range both {
			runs = append(runs, t.Runs(family, name)...)
		}
	}
	return compare.Against(runs, search, baseline)
}

// has returns an error that names a search that the table has not.
func (t *Table) has(searches ...string) error {
	for _, s := range searches {
		if !slices.Contains(t.Searches, s) {
			return fmt.Errorf("duel: the table has no search %q", s)
		}
	}
	return nil
}

// Mean returns the mean of the true scores that a search ends with in a family. It is NaN without runs.
func (t *Table) Mean(family, search string) float64 {
	sum, runs := 0.0, t.Runs(family, search)
	for _, r := range runs {
		sum += r.Score
	}
	return sum / float64(len(runs))
}

// Reach returns after how many calls nine in ten runs of a search have reached a true score in a family. It is false if
// fewer ever do.
func (t *Table) Reach(family, search string, score float64) (calls int, ok bool) {
	var took []int
	runs := t.Runs(family, search)
	for _, r := range runs {
		if i := slices.IndexFunc(r.Points, func(p compare.Point) bool { return p.Score >= score }); i >= 0 {
			took = append(took, r.Points[i].Calls)
		}
	}
	need := int(math.Ceil(reliably * float64(len(runs))))
	if need == 0 || len(took) < need {
		return 0, false
	}
	slices.Sort(took)
	return took[need-1], true
}

// reliably is the share of runs that have to reach a score for it to count as reached.
const reliably = 0.9

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
	return scores[len(scores)-int(math.Ceil(reliably*float64(len(scores))))]
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

package population

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
)

// Grid is an archive of the best program of each cell (MAP-Elites). A new one replaces the one in its cell if it is
// strictly better, and the loser leaves the archive. What a cell is, a function of the candidate says: give it Cell or
// Features.
//
// Source: J.-B. Mouret, J. Clune, "Illuminating search spaces by mapping elites" (arXiv 1504.04909).
type Grid struct {
	// Cell names the cell of a candidate.
	Cell func(eval.Candidate) string
	// Features are numbers, as many for each candidate, that are binned by quantiles: bin k of a feature holds the
	// candidates between the k/Bins and the (k+1)/Bins quantile of all that were offered. The quantiles are taken anew
	// each time that as many have been offered again, and then every member is put into its cell of now, where the best
	// stays. So all members are always told apart by the same bins. A grid whose bins follow the range of what was seen,
	// without that, comes to hold members under cells that mean something else by then.
	//
	// A candidate with a feature that is not finite is not kept. Each feature of each candidate offered takes 8 bytes.
	Features func(eval.Candidate) []float64
	Bins     int // of each feature; 0 means 10

	ranked
	cells map[string]*Member
	of    map[*Member][]float64 // members' features
	seen  [][]float64           // by feature, of all that were offered
	edges [][]float64           // by feature: the quantiles between bins
	next  int                   // how many are to be offered before the quantiles are taken anew
	last  struct {              // what was put in last, whether it stayed or not
		member *Member
		cell   string
	}
}

var _ placer = (*Grid)(nil)

func (g *Grid) validate() error {
	switch {
	case (g.Cell == nil) == (g.Features == nil):
		return errors.New("population: Grid needs one of Cell and Features, to say in which cell a program is")
	case g.Bins < 0:
		return fmt.Errorf("population: Grid.Bins is %d: need 0 for 10, or more", g.Bins)
	}
	return nil
}

// Add keeps m if it is better than the member in its cell.
func (g *Grid) Add(m *Member) bool {
	if g.cells == nil {
		g.cells, g.of = make(map[string]*Member), make(map[*Member][]float64)
	}
	if g.Features == nil {
		return g.put(g.Cell(m.Candidate), m)
	}
	f := slices.Clone(g.Features(m.Candidate))
	if slices.ContainsFunc(f, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
		return false
	}
	g.note(f)
	g.of[m] = f
	if !g.put(g.name(f), m) {
		delete(g.of, m)
		return false
	}
	return true
}

// put puts m into a cell, unless the one that is there is at least as good.
func (g *Grid) put(cell string, m *Member) bool {
	g.last.member, g.last.cell = m, cell
	old, taken := g.cells[cell]
	if taken && !outranks(m, old) {
		return false
	}
	if taken {
		g.remove(old)
		delete(g.of, old)
	}
	g.cells[cell] = m
	g.add(m)
	return true
}

// Place returns the cell of m. With Features it is the number of the bin of each, as the bins were when m was added or
// moved last; later ones may be others.
func (g *Grid) Place(m *Member) string {
	if m == g.last.member {
		return strings.TrimSpace(g.last.cell)
	}
	for cell, in := range g.cells {
		if in == m {
			return strings.TrimSpace(cell)
		}
	}
	return ""
}

// note takes in the features of a candidate, and bins anew when their number has doubled.
func (g *Grid) note(f []float64) {
	if g.seen == nil {
		g.seen, g.next = make([][]float64, len(f)), 1
	}
	if len(f) != len(g.seen) {
		panic(fmt.Sprintf("population: Grid.Features returns %d numbers, and returned %d before", len(f), len(g.seen)))
	}
	for i, x := range f {
		g.seen[i] = append(g.seen[i], x)
	}
	if g.next--; g.next == 0 && len(f) > 0 {
		g.next = len(g.seen[0])
		g.rebin()
	}
}

// rebin takes the quantiles of all that was seen, and puts every member into its cell of now. Members go in by rank,
// so that the best of a cell stays, and of equals the one that came first.
func (g *Grid) rebin() {
	bins := cmp.Or(g.Bins, 10)
	g.edges = make([][]float64, len(g.seen))
	for i, seen := range g.seen {
		sorted := slices.Sorted(slices.Values(seen))
		for k := 1; k < bins; k++ {
			g.edges[i] = append(g.edges[i], sorted[min(k*len(sorted)/bins, len(sorted)-1)])
		}
	}
	members, of := g.list, g.of
	g.list, g.cells, g.of = nil, make(map[string]*Member), make(map[*Member][]float64)
	for _, m := range members {
		if g.put(g.name(of[m]), m) {
			g.of[m] = of[m]
		}
	}
}

// name returns the cell of features. A feature that equals a quantile is in the bin above it, so that a value that
// half of the candidates share is in one bin.
func (g *Grid) name(f []float64) string {
	var b strings.Builder
	for i, x := range f {
		at, found := slices.BinarySearch(g.edges[i], x)
		for found && at < len(g.edges[i]) && g.edges[i][at] == x {
			at++
		}
		fmt.Fprintf(&b, "%d ", at)
	}
	return b.String()
}

// String names the archive.
func (g *Grid) String() string {
	if g.Features == nil {
		return "Grid"
	}
	return fmt.Sprintf("Grid(%d bins)", cmp.Or(g.Bins, 10))
}

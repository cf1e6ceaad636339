package peers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/population"
)

// Sizes are those of OpenEvolve's database.
type sizes struct {
	islands int
	most    int // programs on all islands
	elite   int // programs of all islands
	every   int // generations of an island between migrations, each a child that it was given
}

// migrating is the share of an island's programs that are sent to others, at least one.
const migrating = 0.1

// A database holds OpenEvolve's programs: those of each island, the best of each cell of an island, and an elite of all
// islands. A newcomer that is better than the program of its cell drives that one out. One that is not stays on the
// island without a cell.
//
// Source: openevolve/database.py, ProgramDatabase.
type database struct {
	sizes   sizes
	islands []*island
	all     []*resident // oldest first
	elite   []*resident // every program while there is room, then those that are better than the worst
	best    *resident
	cells   cells
	moved   int // the generation at which programs migrated last
}

// A resident is a program on an island. A migrant is a copy of one.
type resident struct {
	*population.Member
	island  int
	migrant bool
}

// above reports whether r is strictly better than o. It copies neither.
func (r *resident) above(o *resident) bool {
	a, b := &r.Result, &o.Result
	return a.Valid && (!b.Valid || a.Score > b.Score)
}

// byScore compares two residents, the better first.
func byScore(a, b *resident) int {
	switch {
	case a.above(b):
		return -1
	case b.above(a):
		return 1
	}
	return 0
}

// An island is a part of a database.
type island struct {
	*database
	at         int
	list       []*resident // oldest first
	cell       map[cell]*resident
	best       *resident
	generation int // children that it was given
	last       *resident
	lastCell   cell
}

var _ population.Archive = (*island)(nil)

func newDatabase(s sizes) *database {
	d := &database{sizes: s}
	for i := range s.islands {
		d.islands = append(d.islands, &island{database: d, at: i, cell: make(map[cell]*resident)})
	}
	return d
}

// Add keeps m. The initial program is given to all islands, and the first has it alone.
func (l *island) Add(m *population.Member) bool {
	if m.ID == 0 {
		if l.at == 0 {
			l.put(&resident{Member: m})
		}
		return l.at == 0
	}
	l.put(&resident{Member: m, island: l.at})
	if l.generation++; l.generation-l.moved >= l.sizes.every {
		l.migrate()
	}
	return true
}

// Members returns the island's programs, oldest first. An empty one breeds from the first.
func (l *island) Members() []*population.Member {
	list := l.list
	if len(list) == 0 {
		list = l.islands[0].list
	}
	members := make([]*population.Member, len(list))
	for i, r := range list {
		members[i] = r.Member
	}
	return members
}

// Place returns the cell of the newest member, and of another one if it has one.
func (l *island) Place(m *population.Member) string {
	if l.last != nil && l.last.Member == m {
		return l.lastCell.String()
	}
	for c, r := range l.cell {
		if r.Member == m {
			return c.String()
		}
	}
	return ""
}

// String names the island.
func (l *island) String() string { return fmt.Sprintf("OpenEvolve(%d)", l.at) }

// put adds r to its island.
func (d *database) put(r *resident) {
	l := d.islands[r.island]
	d.all = append(d.all, r)
	at := d.cells.of(r.Program, d.all)
	l.last, l.lastCell = r, at
	old := l.cell[at]
	won := old == nil || r.above(old)
	if i := slices.Index(d.elite, old); won && i >= 0 {
		d.elite = append(slices.Delete(d.elite, i, i+1), r)
	}
	if won {
		l.cell[at] = r
	}
	l.list = append(l.list, r)
	d.elect(r)
	d.limit(r)
	if d.best == nil || r.above(d.best) {
		d.best = r
	}
	if l.best == nil || r.above(l.best) {
		l.best = r
	}
	if won && old != nil {
		d.drop(old)
	}
}

// elect lets r into the elite. One that took its cell's place there drives out the worst as well, so that there is room
// for the next, as in the original.
func (d *database) elect(r *resident) {
	if len(d.elite) >= d.sizes.elite {
		worst := slices.MaxFunc(d.elite, byScore)
		if !r.above(worst) {
			return
		}
		d.elite = without(d.elite, worst)
	}
	if !slices.Contains(d.elite, r) {
		d.elite = append(d.elite, r)
	}
}

// limit drops the worst while there are too many programs, those without a cell first. The best and the newcomer stay.
func (d *database) limit(newcomer *resident) {
	excess := len(d.all) - d.sizes.most
	if excess <= 0 {
		return
	}
	owns := map[*resident]bool{}
	for _, l := range d.islands {
		for _, r := range l.cell {
			owns[r] = true
		}
	}
	worst := slices.DeleteFunc(slices.Clone(d.all), func(r *resident) bool { return r == d.best || r == newcomer })
	slices.SortStableFunc(worst, func(a, b *resident) int {
		if owns[a] != owns[b] {
			return cmp.Compare(one(owns[a]), one(owns[b]))
		}
		return byScore(b, a)
	})
	for _, r := range worst[:min(excess, len(worst))] {
		d.drop(r)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// drop takes r off its island and out of the elite.
func (d *database) drop(r *resident) {
	l := d.islands[r.island]
	d.all, d.elite, l.list = without(d.all, r), without(d.elite, r), without(l.list, r)
	for c, in := range l.cell {
		if in == r {
			delete(l.cell, c)
		}
	}
	if l.best == r {
		l.best = nil
		if len(l.list) > 0 {
			l.best = slices.MinFunc(l.list, byScore)
		}
	}
}

// migrate sends copies of each island's best programs to both of its neighbours. A copy is not sent on, and no island
// gets a program that it has.
func (d *database) migrate() {
	for i, l := range d.islands {
		ranked := slices.Clone(l.list)
		slices.SortStableFunc(ranked, byScore)
		going := min(len(ranked), max(1, int(float64(len(ranked))*migrating)))
		for _, r := range ranked[:going] {
			if r.migrant {
				continue
			}
			for _, to := range []int{(i + 1) % len(d.islands), (i + len(d.islands) - 1) % len(d.islands)} {
				if !d.islands[to].has(r.Program) {
					m := *r.Member
					m.Asked, m.Improved = 0, 0
					d.put(&resident{&m, to, true})
				}
			}
		}
	}
	for _, l := range d.islands {
		d.moved = max(d.moved, l.generation)
	}
}

// has reports whether a resident has the program.
func (l *island) has(program string) bool {
	return slices.ContainsFunc(l.list, func(r *resident) bool { return r.Program == program })
}

// without returns list without r.
func without(list []*resident, r *resident) []*resident {
	if i := slices.Index(list, r); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

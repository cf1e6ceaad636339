package presets

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// OpenEvolve keeps the best program of each cell on each of five islands, 10 bins of length by 10 of diversity, and
// those that were never the best of theirs. Islands breed in turn. A parent is uniform on its island with probability
// 0.2, uniform among the island's part of the elite with 0.7, and else in proportion to max(score, 0.001). The elite
// are the first 100 programs of all islands, and then those that are better than the worst of them. Each time that an
// island was given 50 children, copies of the best tenth of each go to both of its neighbours. The prompt has the
// island's five best programs and two inspirations: its best, and from cells within 2 of the parent's; what became of
// the best three; and areas to improve. The reply is a diff. There is no cascade of evaluations: that is the task's.
func OpenEvolve(c population.Config) population.Config {
	islands := &population.Islands{}
	for _, l := range newDatabase(5, sizes{most: 1000, mostElite: 100, every: 50}).islands {
		islands.Of = append(islands.Of, l)
	}
	c.Archive, c.Islands = islands, inTurn{}
	c.Operators = []population.Operator{sampled{population.Rewrite{Form: task.AsDiff}}}
	return c
}

// sampled is a rewrite of a parent that an island samples.
type sampled struct{ population.Rewrite }

func (o sampled) Brief(v *population.View) evolve.Brief {
	l := v.Part.(*island)
	parent, by, inspirations := l.sample(v.Rand)
	top := l.islands[parent.island].list.top(5)
	v.Parent = parent.Member
	o.Show = func(*population.View) []task.Section {
		// the top ones first, since many prompts of an island have the same
		programs := once(parent.Member, append(top.rising(), inspirations.rising()...).members())
		return append([]task.Section{population.Inspirations(programs...)}, told(v, parent, top[:min(3, len(top))])...)
	}
	b := o.Rewrite.Brief(v)
	b.Labels = map[string]string{"selector": by}
	return b
}

func (o sampled) String() string {
	return o.Name() + " with attempts, of 0.2 Uniform, 0.7 elite, 0.1 by score"
}

// sample samples a parent and inspirations for a child of the island. An empty island's are those of its parent's.
func (l *island) sample(r *rand.Rand) (parent *resident, by string, inspirations residents) {
	parent, by = l.parent(r)
	if len(l.list) == 0 {
		l = l.islands[parent.island]
	}
	return parent, by, l.inspirations(parent, 2, r)
}

// parent samples a parent. A child of an empty island is one of the first island's, or of any.
func (l *island) parent(r *rand.Rand) (parent *resident, by string) {
	draw := r.Float64()
	at := l
	if len(l.list) == 0 {
		at = l.islands[0]
	}
	switch {
	case draw < 0.2:
		return at.list.any(r), "uniform"
	case draw < 0.2+0.7:
		mine := slices.DeleteFunc(slices.Clone(l.elite), func(e *resident) bool { return e.island != at.at })
		if len(mine) == 0 {
			mine = l.elite
		}
		return mine.any(r), "elite"
	case at != l:
		return l.all.any(r), "any"
	}
	return l.list.draw(func(m *resident) float64 { return fitness(m.Member) }, r), "score"
}

// inspirations returns up to n programs of the island: its best, then some from cells within 2 of the parent's, as far
// as 3 tries for each find one, and then any. Of an island of n programs or fewer only the best is one.
func (l *island) inspirations(parent *resident, n int, r *rand.Rand) (list residents) {
	list = l.list.top(1).without(parent)
	if len(l.list) <= n {
		return list
	}
	near := l.cellOf(parent)
	in := map[cell]residents{}
	for _, m := range l.list {
		at := l.cellOf(m)
		in[at] = append(in[at], m)
	}
	nearby := func(bin int) int { return min(max(bin+r.IntN(5)-2, 0), bins-1) }
	taken := func(m *resident) bool { return m == parent || slices.Contains(list, m) }
	stands := map[cell]*resident{} // for its cell, the same at each try
	for range 3 * (n - len(list)) {
		at := cell{nearby(near[0]), nearby(near[1])}
		if len(in[at]) > 0 && stands[at] == nil {
			stands[at] = in[at].any(r)
		}
		if m := stands[at]; m != nil && !taken(m) {
			if list = append(list, m); len(list) == n {
				return list
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(l.list), taken)
	for len(list) < n && len(left) > 0 {
		i := r.IntN(len(left))
		list, left = append(list, left[i]), slices.Delete(left, i, i+1)
	}
	return list
}

// told returns the sections of a prompt besides programs: what became of the island's best three, as far as it is known
// what they were made of, and areas to improve.
//
// Source: openevolve/prompt/sampler.py, _format_evolution_history and _identify_improvement_areas.
func told(v *population.View, parent *resident, best residents) []task.Section {
	var lines []string
	for _, r := range slices.Backward(best) {
		if len(r.Parents) > 0 {
			if of, ok := v.Lookup(r.Parents[0]); ok {
				lines = append(lines, became(r.Member, of))
			}
		}
	}
	attempts := task.Attempts(lines...)
	attempts.Stable = true // as long as the best are
	return []task.Section{attempts, {Name: task.ShowAreas, Title: "Areas to improve", Lines: areas(parent, best)}}
}

// became returns what became of a program that was made of another one.
func became(m, of population.Member) string {
	line := population.Birth{Child: evolve.Child{Candidate: m.Candidate, Operator: m.Operator}, Parent: of}.Attempt()
	higher, lower := 0, 0 // metrics
	for name, now := range m.Result.Metrics {
		if before := of.Result.Metrics[name]; now > before {
			higher++
		} else if now < before {
			lower++
		}
	}
	if higher+lower > 1 {
		line += fmt.Sprintf("; %d metrics rose and %d fell", higher, lower)
	}
	return line
}

// areas returns how the parent compares with the last of the best, and whether it is long.
func areas(parent *resident, best residents) (list []string) {
	const long = 500 // letters
	if len(best) > 0 {
		before, now := best[len(best)-1].Result.Score, parent.Result.Score
		text := fmt.Sprintf("The score is as it was, %.4f.", now)
		if now > before {
			text = fmt.Sprintf("The score rose: %.4f → %.4f.", before, now)
		} else if now < before {
			text = fmt.Sprintf("The score fell: %.4f → %.4f. Think again about the last changes.", before, now)
		}
		list = append(list, text)
	}
	if utf8.RuneCountInString(parent.Program) > long {
		list = append(list, fmt.Sprintf("The program has more than %d letters: think about a simpler one.", long))
	}
	return list
}

// inTurn pulls the arms in turn.
type inTurn struct{}

// Probs gives all to the arm whose turn it is, or to the next that is open.
func (inTurn) Probs(p []float64, r bandit.Round) {
	for i := range p {
		if at := (r.T + i) % len(p); r.Open[at] {
			p[at] = 1
			return
		}
	}
}

func (inTurn) Update(bandit.Pull, float64) {}

func (inTurn) String() string { return "InTurn()" }

// A database holds OpenEvolve's programs: those of each island, the best of each cell of an island, and an elite of all
// islands. A newcomer that is better than the program of its cell drives that one out. One that is not stays on the
// island without a cell.
//
// Source: openevolve/database.py, ProgramDatabase.
type database struct {
	sizes
	islands []*island
	all     residents
	elite   residents // every program while there is room, then those that are better than the worst
	moved   int       // the generation at which programs migrated last

	length, diversity []float64 // the least and the most that were seen
	references        []figure
	spreads           map[string]float64 // diversity by program, of the last mostSpreads
	known             []string           // those programs, oldest first
}

type sizes struct {
	most      int // programs on all islands
	mostElite int // of them
	every     int // generations of an island between migrations, each a child that it was given
}

// An island is a part of a database.
type island struct {
	*database
	at         int
	list       residents
	cell       map[cell]*resident
	generation int // children that it was given
	last       *resident
	lastCell   cell
}

func newDatabase(islands int, s sizes) *database {
	d := &database{sizes: s, spreads: make(map[string]float64)}
	for i := range islands {
		d.islands = append(d.islands, &island{database: d, at: i, cell: make(map[cell]*resident)})
	}
	return d
}

// Add keeps m. The initial program is given to all islands, and the first has it alone.
func (l *island) Add(m population.Member) bool {
	if l.list.replace(m) || l.at > 0 && (m.ID == 0 || len(l.list) == 0 && l.islands[0].list.replace(m)) {
		return m.ID > 0 || l.at == 0
	}
	l.put(&resident{Member: m, island: l.at})
	if m.ID > 0 {
		l.generation++
	}
	if l.generation-l.moved >= l.every {
		l.migrate()
	}
	return true
}

// Members returns the island's programs, oldest first. An empty one breeds from the first.
func (l *island) Members() []population.Member {
	if len(l.list) == 0 {
		return l.islands[0].list.members()
	}
	return l.list.members()
}

// Place returns the cell of the newest member, and of another one if it has one.
func (l *island) Place(m population.Member) string {
	if l.last != nil && l.last.ID == m.ID {
		return l.lastCell.String()
	}
	for c, r := range l.cell {
		if r.ID == m.ID {
			return c.String()
		}
	}
	return ""
}

func (l *island) String() string { return fmt.Sprintf("OpenEvolve(%d)", l.at) }

func (d *database) put(r *resident) {
	l := d.islands[r.island]
	d.all = append(d.all, r)
	at := d.cellOf(r)
	l.last, l.lastCell = r, at
	old := l.cell[at]
	won := old == nil || byScore(r, old) < 0
	if won && slices.Contains(d.elite, old) {
		d.elite = append(d.elite.without(old), r)
	}
	if won {
		l.cell[at] = r
	}
	l.list = append(l.list, r)
	d.elect(r)
	d.limit(r)
	if won && old != nil {
		d.drop(old)
	}
}

// elect lets r into the elite. One that took its cell's place there drives out the worst as well, so that there is room
// for the next, as in the original.
func (d *database) elect(r *resident) {
	if len(d.elite) >= d.mostElite {
		worst := slices.MaxFunc(d.elite, byScore)
		if byScore(r, worst) >= 0 {
			return
		}
		d.elite = d.elite.without(worst)
	}
	if !slices.Contains(d.elite, r) {
		d.elite = append(d.elite, r)
	}
}

// limit drops the worst while there are too many programs, those without a cell first. The best and the newcomer stay.
func (d *database) limit(newcomer *resident) {
	excess := len(d.all) - d.most
	if excess <= 0 {
		return
	}
	owns := map[*resident]int{}
	for _, l := range d.islands {
		for _, r := range l.cell {
			owns[r] = 1
		}
	}
	worst := d.all.without(newcomer)
	worst = worst.without(worst.top(1)[0])
	slices.SortStableFunc(worst, func(a, b *resident) int { return cmp.Or(owns[a]-owns[b], byScore(b, a)) })
	for _, r := range worst[:min(excess, len(worst))] {
		d.drop(r)
	}
}

func (d *database) drop(r *resident) {
	l := d.islands[r.island]
	d.all, d.elite, l.list = d.all.without(r), d.elite.without(r), l.list.without(r)
	maps.DeleteFunc(l.cell, func(_ cell, in *resident) bool { return in == r })
}

// migrate sends copies of the best tenth of each island, at least of one program, to both of its neighbours. A copy is
// not sent on, and no island gets a program that it has.
func (d *database) migrate() {
	n := len(d.islands)
	for i, l := range d.islands {
		for _, r := range l.list.top(max(1, int(float64(len(l.list))*0.1))) {
			for _, to := range []int{(i + 1) % n, (i + n - 1) % n} {
				if !r.migrant && !d.islands[to].list.has(r.Program) {
					d.put(&resident{Member: r.Member, island: to, migrant: true})
				}
			}
		}
	}
	for _, l := range d.islands {
		d.moved = max(d.moved, l.generation)
	}
}

// A cell is a bin of length and one of diversity, of 10 each.
type cell [2]int

const bins = 10

func (c cell) String() string { return fmt.Sprintf("%d %d", c[0], c[1]) }

// cellOf returns the cell of a program. Bins divide the range of what was seen so far, so that a program may be in
// another cell later.
//
// Source: openevolve/database.py, _calculate_feature_coords and _get_cached_diversity.
func (d *database) cellOf(r *resident) cell {
	at := cell{bin(&d.length, float64(utf8.RuneCountInString(r.Program)))}
	if len(d.all) >= 2 {
		at[1] = bin(&d.diversity, d.spread(r.Program))
	}
	return at
}

// spread returns a program's diversity: the mean distance from up to 20 references that differ from it.
func (d *database) spread(program string) float64 {
	if s, ok := d.spreads[program]; ok {
		return s
	}
	if len(d.references) < mostReferences {
		d.references = references(d.all)
	}
	var sum, n float64
	of := figureOf(program)
	for _, r := range d.references {
		if r.program != program {
			sum += of.distance(r)
			n++
		}
	}
	if d.known = append(d.known, program); len(d.known) > mostSpreads {
		delete(d.spreads, d.known[0])
		d.known = d.known[1:]
	}
	d.spreads[program] = sum / max(1, n)
	return d.spreads[program]
}

const (
	mostReferences = 20
	mostSpreads    = 1000
)

// references returns all programs, or if there are too many the oldest one, and then each time the one that is farthest
// from the nearest that was taken.
func references(all residents) (taken []figure) {
	var left []figure
	for _, r := range all {
		left = append(left, figureOf(r.Program))
	}
	if len(left) <= mostReferences {
		return left
	}
	for len(taken) < mostReferences {
		at, farthest := 0, -1.0
		for i, f := range left {
			near := math.Inf(1)
			for _, t := range taken {
				near = min(near, f.distance(t))
			}
			if near > farthest {
				at, farthest = i, near
			}
		}
		taken, left = append(taken, left[at]), slices.Delete(left, at, at+1)
	}
	return taken
}

// bin takes note of x, and returns its bin in the range of what was seen.
func bin(seen *[]float64, x float64) int {
	all := append(*seen, x)
	lo, hi := slices.Min(all), slices.Max(all)
	if *seen = []float64{lo, hi}; lo == hi {
		return bins / 2
	}
	return min(int((x-lo)/(hi-lo)*bins), bins-1)
}

// A figure is what the distance of two programs depends on.
type figure struct {
	program       string
	length, lines int
	characters    map[rune]bool
}

func figureOf(program string) figure {
	f := figure{program, utf8.RuneCountInString(program), strings.Count(program, "\n"), map[rune]bool{}}
	for _, r := range program {
		f.characters[r] = true
	}
	return f
}

// distance is 0.1 times the difference in length, 10 times that in lines, and half of the number of characters that one
// of the programs has alone.
func (f figure) distance(g figure) float64 {
	both := 0
	for r := range f.characters {
		if g.characters[r] {
			both++
		}
	}
	alone := len(f.characters) + len(g.characters) - 2*both
	length, lines := math.Abs(float64(f.length-g.length)), math.Abs(float64(f.lines-g.lines))
	return 0.1*length + 10*lines + 0.5*float64(alone)
}

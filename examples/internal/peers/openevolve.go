package peers

import (
	"math/rand/v2"
	"slices"

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
// the best three; and areas to improve. The reply is a diff.
//
// On purpose otherwise:
//   - a program is shown once in a prompt; there, the best may be shown four times;
//   - of a change the first place is shown; there, up to 30 lines of each of its blocks;
//   - a program's cell is not told;
//   - where the original takes any of several programs, by the order of a set (of equal scores, or in one cell), the
//     older is taken, and of one cell any with the same chance;
//   - the first of the references for diversity is the oldest program if there are more than 20 by then; there, any.
//
// There is no cascade of evaluations: that is the task's.
func OpenEvolve(s Setting) population.Config {
	d := newDatabase(defaultSizes)
	islands := &population.Islands{}
	for _, l := range d.islands {
		islands.Of = append(islands.Of, l)
	}
	c := s.config()
	c.Archive, c.Islands = islands, inTurn{}
	c.Operators = []population.Operator{sampled{population.Rewrite{Form: task.AsDiff}}}
	return c
}

var defaultSizes = sizes{islands: 5, most: 1000, elite: 100, every: 50}

// The prompt's programs.
const (
	topShown     = 3
	diverseShown = 2 // twice: of the ranks after the top, and as inspirations
)

// sampled is a rewrite of a parent that an island samples.
type sampled struct{ population.Rewrite }

// Brief samples the parent and what is shown with it.
func (o sampled) Brief(v *population.View) evolve.Brief {
	l := v.Part.(*island)
	parent, by, inspirations := l.sample(v.Rand)
	top := l.islands[parent.island].top(topShown + diverseShown)
	v.Parent = parent.Member
	o.Show = func(*population.View) []task.Section {
		programs := population.Inspirations(shownOnce(parent, top, inspirations)...)
		return append([]task.Section{programs}, told(v, parent, top[:min(topShown, len(top))])...)
	}
	b := o.Rewrite.Brief(v)
	b.Labels = map[string]string{"selector": by}
	return b
}

// String says how parents are sampled.
func (o sampled) String() string {
	return o.Name() + " with attempts, of 0.2 Uniform, 0.7 elite, 0.1 by score"
}

// sample samples a parent and inspirations for a child of the island. An empty island's are those of its parent's.
func (l *island) sample(r *rand.Rand) (parent *resident, by string, inspirations []*resident) {
	parent, by = l.parent(r)
	from := l
	if len(l.list) == 0 {
		from = l.islands[parent.island]
	}
	return parent, by, from.inspirations(parent, diverseShown, r)
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
		return anyOf(at.list, r), "uniform"
	case draw < 0.2+0.7:
		mine := slices.DeleteFunc(slices.Clone(l.elite), func(e *resident) bool { return e.island != at.at })
		if len(mine) == 0 {
			mine = l.elite
		}
		return anyOf(mine, r), "elite"
	case at != l:
		return anyOf(l.all, r), "any"
	}
	members := l.Members()
	m := population.ByWeight(fitness).Select(members, r)
	return l.list[slices.Index(members, m)], "score"
}

// fitness is a score as the chance of a roulette wheel. Scores below 0 all have the same small one.
func fitness(m *population.Member) float64 { return max(m.Result.Score, 0.001) }

func anyOf(list []*resident, r *rand.Rand) *resident { return list[r.IntN(len(list))] }

// top returns the island's n best, the best first.
func (l *island) top(n int) []*resident {
	ranked := slices.Clone(l.list)
	slices.SortStableFunc(ranked, byScore)
	return ranked[:min(n, len(ranked))]
}

// inspirations returns up to n programs of the island: its best, then some from cells within 2 of the parent's, as far
// as 3 tries for each find one, and then any. Of an island of n programs or fewer only the best is one.
func (l *island) inspirations(parent *resident, n int, r *rand.Rand) (list []*resident) {
	for _, b := range append([]*resident{l.best}, l.top(1)...) {
		if b != parent && !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	if len(l.list) <= n || len(list) >= n {
		return list[:min(n, len(list))]
	}
	near := l.cells.of(parent.Program, l.all)
	in := map[cell][]*resident{}
	for _, m := range l.list {
		at := l.cells.of(m.Program, l.all)
		in[at] = append(in[at], m)
	}
	open := func(m *resident) bool { return m != parent && !slices.Contains(list, m) }
	stands := map[cell]*resident{} // for its cell, the same at each try
	for range 3 * (n - len(list)) {
		at := cell{nearby(near[0], r), nearby(near[1], r)}
		if len(in[at]) == 0 {
			continue
		}
		if stands[at] == nil {
			stands[at] = anyOf(in[at], r)
		}
		if m := stands[at]; open(m) {
			if list = append(list, m); len(list) == n {
				return list
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(l.list), func(m *resident) bool { return !open(m) })
	for len(list) < n && len(left) > 0 {
		i := r.IntN(len(left))
		list, left = append(list, left[i]), slices.Delete(left, i, i+1)
	}
	return list
}

// nearby returns a bin at most 2 from bin.
func nearby(bin int, r *rand.Rand) int { return min(max(bin+r.IntN(5)-2, 0), bins-1) }

// shownOnce returns the programs that a prompt shows beside the parent, each once: the top ones first, since many
// prompts of an island have the same, and of each list the best last, as models weigh what comes last most.
func shownOnce(parent *resident, lists ...[]*resident) []*population.Member {
	var shown []*resident
	seen := map[string]bool{parent.Program: true}
	for _, list := range lists {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b *resident) int { return byScore(b, a) })
		for _, r := range list {
			if !seen[r.Program] {
				seen[r.Program] = true
				shown = append(shown, r)
			}
		}
	}
	members := make([]*population.Member, len(shown))
	for i, r := range shown {
		members[i] = r.Member
	}
	return members
}

// inTurn pulls the arms in turn.
type inTurn struct{}

var _ bandit.Policy = inTurn{}

// Probs gives all to the arm whose turn it is, or to the next that is open.
func (inTurn) Probs(p []float64, r bandit.Round) {
	for i := range p {
		if at := (r.T + i) % len(p); r.Open[at] {
			p[at] = 1
			return
		}
	}
}

// Update does nothing.
func (inTurn) Update(bandit.Pull, float64) {}

// String names the policy.
func (inTurn) String() string { return "InTurn()" }

package presets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// AdaEvolve has two islands of 20 programs, drawn by UCB over decayed gains, whose 5 best are copied to the next one
// every 15 children. A newcomer of a full island competes with the program that is most like it, but for the best
// fifth. A parent is drawn by how unlike it is to its five nearest (explore), uniformly among the best quarter
// (exploit), or by either, with the best fifth in place of the quarter (balanced), in shares that follow the island's
// own gains. The prompt has two programs of the better half that are most unlike the parent, the two best of all
// islands, and up to five earlier attempts on the parent with what became of them.
func AdaEvolve(c population.Config) population.Config {
	a := newAdaptive(2, 20)
	islands := &population.Islands{}
	for _, l := range a.islands {
		islands.Of = append(islands.Of, l)
	}
	c.Archive, c.Islands = islands, bestNext{a}
	siblings := &population.Attempts{Most: 5, OfParent: true}
	c.Operators, c.Memory = []population.Operator{adapts{a, siblings}}, []population.Memory{siblings}
	return c
}

// The ways to draw a parent. They stand in results as operators.
const (
	explores = "explore"
	exploits = "exploit"
	balances = "balanced"
)

// adapts is a rewrite of a parent that an island draws.
type adapts struct {
	*adaptive
	siblings *population.Attempts
}

func (adapts) Name() string { return "adapt" }

// Brief draws a way, a parent and what is shown with it.
func (o adapts) Brief(v *population.View) evolve.Brief {
	l := v.Part.(*niche)
	o.settle(l)
	mode := l.mode(v.Rand)
	parent := l.parent(mode, v.Rand)
	v.Parent = parent.Member
	r := population.Rewrite{Show: func(*population.View) []task.Section {
		return []task.Section{population.Inspirations(l.context(parent)...), o.siblings.Section(v)}
	}}
	if mode == explores {
		r.Instruction = "Write a program that solves the task by a different method than this one."
	}
	b := r.Brief(v)
	b.Operator = mode
	return b
}

// Follow counts the children. At every fifteenth programs migrate, before the next one is briefed.
func (o adapts) Follow(population.Birth) {
	o.children++
	o.due = o.due || o.children > 1 && (o.children-1)%15 == 0
}

func (adapts) String() string { return "explore, exploit, balanced by gains" }

func (l *niche) mode(r *rand.Rand) string {
	i := l.intensity()
	switch draw := r.Float64(); {
	case draw < i:
		return explores
	case draw < i+0.7*(1-i):
		return exploits
	}
	return balances
}

func (l *niche) parent(mode string, r *rand.Rand) *resident {
	share := 4 // of the best that are exploited
	if mode == balances {
		share = 5
		if mode = explores; r.Float64() < 0.5 {
			mode = exploits
		}
	}
	if mode == exploits {
		return l.list.top(max(1, len(l.list)/share)).any(r)
	}
	return l.list.draw(func(k *resident) float64 { return max(l.novelty(k), 0.001) }, r)
}

// novelty returns the mean distance of r from its five nearest, 1 if it is alone.
func (l *niche) novelty(r *resident) float64 {
	var far []float64
	for _, k := range l.list.without(r) {
		far = append(far, r.outline.distance(k.outline))
	}
	if len(far) == 0 {
		return 1
	}
	slices.Sort(far)
	far = far[:min(5, len(far))]
	sum := 0.0
	for _, d := range far {
		sum += d
	}
	return sum / float64(len(far))
}

// context returns the programs that are shown beside the parent: the two of the better half, at least of the best four,
// that are most unlike it, and the two best of all islands. The best is last, and none is shown twice.
func (l *niche) context(parent *resident) []population.Member {
	const local, global = 2, 2
	unlike := l.list.top(max(2*local, len(l.list)/2)).without(parent)
	slices.SortStableFunc(unlike, func(a, b *resident) int {
		return cmp.Compare(parent.outline.distance(b.outline), parent.outline.distance(a.outline))
	})
	var all residents
	for _, k := range l.islands {
		all = append(all, k.list...)
	}
	all = all.ranked().without(parent)
	list := slices.Concat(unlike[:min(local, len(unlike))], all[:min(global, len(all))]).ranked()
	slices.Reverse(list)
	list = slices.DeleteFunc(list, func(r *resident) bool { return !r.Result.Valid })
	return once(parent.Member, list.members())
}

// Gains are what an island has gained, by which it chooses how to search and is chosen. With δ the gain of a program
// over the best of the island, relative to it and at most 1, and Δ the same relative to the best of all islands:
//
//	G ← 0.9·G + 0.1·δ²    for each δ > 0
//	reward ← 0.9·reward + Δ, weight ← 0.9·weight + 1    for each program that the island kept
//
// The first program has δ = Δ = 1. One that migrated counts for G alone.
//
// Source: AdaEvolve in SkyDiscover, search/adaevolve/adaptation.py.
type gains struct {
	own            float64 // the best of the island
	g              float64
	visits         int
	reward, weight float64
}

const (
	decay = 0.9
	tiny  = 1e-8 // the ε of the formulas
)

// relative returns gain relative to best, at most 1.
func relative(gain, best float64) float64 {
	if math.IsInf(best, -1) {
		return 1
	}
	return min(gain/(math.Abs(best)+tiny), 1)
}

// note takes in the score of a program that the island kept, and returns the best of all islands from then on.
func (g *gains) note(score, bestOfAll float64, migrant bool) float64 {
	delta := 0.0
	if gain := score - g.own; gain > 0 {
		local := relative(gain, g.own)
		delta, g.own, g.g = relative(gain, bestOfAll), score, decay*g.g+(1-decay)*local*local
	}
	if !migrant {
		g.visits, g.weight, g.reward = g.visits+1, decay*g.weight+1, decay*g.reward+delta
	}
	return max(bestOfAll, score)
}

// intensity returns the share of exploration: I = 0.15 + (0.5 − 0.15)/(1 + √(G + ε)).
func (g *gains) intensity() float64 {
	const least, most = 0.15, 0.5
	return least + (most-least)/(1+math.Sqrt(g.g+tiny))
}

// bestNext draws the island: any with fewer than three visits, and then the one with the largest
//
//	reward/weight + 1.41·√(ln(T)/visits)
//
// with T the children begun. The first child is the first island's.
type bestNext struct{ *adaptive }

func (b bestNext) Probs(p []float64, r bandit.Round) {
	few, top, value := 0, 0, math.Inf(-1)
	for i, l := range b.islands {
		if l.visits < 3 {
			few++
		} else if u := l.reward/l.weight + 1.41*math.Sqrt(math.Log(float64(max(r.T, 1)))/float64(l.visits)); u > value {
			top, value = i, u
		}
	}
	if r.T == 0 || few == 0 {
		p[top] = 1
		return
	}
	for i, l := range b.islands {
		if l.visits < 3 {
			p[i] = 1 / float64(few)
		}
	}
}

func (bestNext) Update(bandit.Pull, float64) {}

func (bestNext) String() string { return "BestNext()" }

// A niche is an island of AdaEvolve. While there is room it keeps every program. Then a newcomer competes with the
// program that is most like it, but for the best fifth, and takes its place if fewer of the island's programs are
// better than it than stand above the other.
//
// Source: AdaEvolve in SkyDiscover, search/adaevolve/archive/unified_archive.py, with its default weights: fitness
// alone.
type niche struct {
	*adaptive
	at   int
	room int
	list residents
	gains
}

// Adaptive is what AdaEvolve's islands have in common.
type adaptive struct {
	islands  []*niche
	best     float64 // of all islands; −Inf before the first program
	children int
	due      bool // programs migrate before the next child
}

// newAdaptive returns islands with room for so many programs each.
func newAdaptive(islands, room int) *adaptive {
	a := &adaptive{best: math.Inf(-1)}
	for i := range islands {
		a.islands = append(a.islands, &niche{adaptive: a, at: i, room: room, gains: gains{own: math.Inf(-1)}})
	}
	return a
}

// settle copies the five best of each island to the next one if it is time. What comes to the island that breeds next
// counts as found there, as in the original.
func (a *adaptive) settle(next *niche) {
	if !a.due {
		return
	}
	a.due = false
	for i, l := range a.islands {
		to := a.islands[(i+1)%len(a.islands)]
		for _, r := range l.list.top(5) {
			if !to.list.has(r.Program) {
				to.put(r.Member, to != next)
			}
		}
	}
}

// Add keeps m if it is good enough.
func (l *niche) Add(m population.Member) bool {
	return l.list.replace(m) || l.put(m, m.ID == 0 && l.at > 0)
}

// put offers m. What the island has gained from another one earns it nothing.
func (l *niche) put(m population.Member, migrant bool) bool {
	r := &resident{Member: m, outline: outlineOf(m.Program)}
	if len(l.list) >= l.room {
		ranked := l.list.ranked()
		safe := ranked[:max(1, len(ranked)/5)]
		rivals := slices.DeleteFunc(slices.Clone(l.list), func(k *resident) bool { return slices.Contains(safe, k) })
		if len(rivals) == 0 {
			return false
		}
		old := slices.MinFunc(rivals, func(a, b *resident) int {
			return cmp.Compare(r.outline.distance(a.outline), r.outline.distance(b.outline))
		})
		better := slices.IndexFunc(ranked, func(k *resident) bool { return byScore(k, r) >= 0 })
		if better < 0 || better >= slices.Index(ranked, old) {
			return false
		}
		l.list = l.list.without(old)
	}
	l.list = append(l.list, r)
	if m.Result.Valid {
		l.best = l.note(m.Result.Score, l.best, migrant)
	}
	return true
}

func (l *niche) Members() []population.Member { return l.list.members() }

func (l *niche) String() string { return fmt.Sprintf("Niche(%d)", l.room) }

// An outline is what the distance of two programs depends on: the words in it of two letters or more, and its
// structure as of Python, which is what it imports, defines and calls, and which statements it has.
//
// Source: AdaEvolve in SkyDiscover, search/adaevolve/archive/diversity.py, CodeDiversity.
type outline struct {
	program          string
	words, structure map[string]bool
}

var (
	aWord     = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*|[0-9]+\.?[0-9]*`)
	anImport  = regexp.MustCompile(`(?:from\s+(\S+)\s+)?import\s+(\S+)`)
	aFunction = regexp.MustCompile(`def\s+([a-zA-Z_][a-zA-Z0-9_]*)\s*\(`)
	aClass    = regexp.MustCompile(`class\s+([a-zA-Z_][a-zA-Z0-9_]*)\s*[:(]`)
	aCall     = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*(?:\.[a-zA-Z_][a-zA-Z0-9_]*)+)\s*\(`)
	// aStatement marks one; of "try :" and "try:", and of "await" and "async", one is enough.
	aStatement = regexp.MustCompile(`for |while |try:|with |yield |async |lambda `)
)

func outlineOf(program string) outline {
	o := outline{program, map[string]bool{}, map[string]bool{}}
	for _, w := range aWord.FindAllString(program, -1) {
		if len(w) >= 2 {
			o.words[w] = true
		}
	}
	for _, m := range anImport.FindAllStringSubmatch(program, -1) {
		if m[1] != "" {
			o.structure["import "+m[1]] = true
		}
		first, _, _ := strings.Cut(m[2], ".")
		o.structure["import "+first] = true
	}
	for kind, of := range map[string]*regexp.Regexp{"def ": aFunction, "class ": aClass, "call ": aCall} {
		for _, m := range of.FindAllStringSubmatch(program, -1) {
			o.structure[kind+m[1]] = true
		}
	}
	for _, m := range aStatement.FindAllString(strings.NewReplacer("try :", "try:", "await ", "async ").Replace(program), -1) {
		o.structure[m] = true
	}
	return o
}

// distance is 0.5 of the words', 0.3 of the structures' and 0.2 of the lengths', each in [0, 1].
func (o outline) distance(p outline) float64 {
	if o.program == p.program {
		return 0
	}
	a, b := utf8.RuneCountInString(o.program), utf8.RuneCountInString(p.program)
	length := math.Abs(float64(a-b)) / float64(max(a, b, 1))
	return 0.5*apart(o.words, p.words) + 0.3*apart(o.structure, p.structure) + 0.2*length
}

// apart is the Jaccard distance of two sets, 0 if both are empty.
func apart(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	either := len(a) + len(b) - both
	if either == 0 {
		return 0
	}
	return 1 - float64(both)/float64(either)
}

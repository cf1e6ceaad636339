package population

import "container/heap"

// elders are the members that a child was ever made of, by ID. Archives forget members, and a merge needs their
// common ancestor's program.
type elders struct {
	of    map[int]Member
	queue []int // oldest first
	bytes int
}

// eldersBytes bounds the programs that are remembered. The oldest are forgotten first.
const eldersBytes = 64 << 20

func newElders() *elders { return &elders{of: make(map[int]Member)} }

// add remembers m.
func (e *elders) add(m Member) {
	if _, ok := e.of[m.ID]; ok {
		return
	}
	e.of[m.ID] = m
	e.queue = append(e.queue, m.ID)
	e.bytes += memberBytes(m)
	for e.bytes > eldersBytes && len(e.queue) > 1 {
		e.bytes -= memberBytes(e.of[e.queue[0]])
		delete(e.of, e.queue[0])
		e.queue = e.queue[1:]
	}
}

// latest returns m with its latest result, as far as it is remembered.
func (e *elders) latest(m Member) Member {
	if now, ok := e.of[m.ID]; ok {
		m.Candidate = now.Candidate
	}
	return m
}

// update gives a member that is remembered another result.
func (e *elders) update(m Member) {
	if old, ok := e.of[m.ID]; ok {
		e.bytes += memberBytes(m) - memberBytes(old)
		e.of[m.ID] = m
	}
}

// memberBytes is about how much memory a member takes.
func memberBytes(m Member) int { return 256 + len(m.Program) + m.Result.Size() }

// ancestor returns the youngest common ancestor of a and b that is not better than either, and none if one of them
// descends from the other.
//
// A child is born after its parents, so the youngest member that was not looked at yet has no descendant among those
// that were not. Both lines are therefore followed back together, from the youngest on, and no further than needed.
func (e *elders) ancestor(a, b Member) (ancestor Member, found bool) {
	if a.ID == b.ID {
		return Member{}, false
	}
	const ofA, ofB = 1, 2
	lines := lineage{of: map[int]int{}}
	lines.add(a.ID, ofA)
	lines.add(b.ID, ofB)
	for len(lines.open) > 0 {
		id := heap.Pop(&lines).(int)
		m, known := e.of[id]
		switch id {
		case a.ID:
			m, known = a, true
		case b.ID:
			m, known = b, true
		}
		both := lines.of[id] == ofA|ofB
		switch {
		case both && (id == a.ID || id == b.ID):
			return Member{}, false
		case !known:
			continue
		case both && !m.Better(a.Candidate) && !m.Better(b.Candidate):
			return m, true
		}
		for _, parent := range m.Parents {
			lines.add(parent, lines.of[id])
		}
	}
	return Member{}, false
}

// A lineage is a heap of the IDs that are to be looked at, the youngest first.
type lineage struct {
	open []int
	of   map[int]int // bits that say whose ancestor one is
}

// add adds an ancestor of those that the bits say.
func (l *lineage) add(id, of int) {
	if _, seen := l.of[id]; !seen {
		heap.Push(l, id)
	}
	l.of[id] |= of
}

func (l *lineage) Len() int           { return len(l.open) }
func (l *lineage) Less(i, j int) bool { return l.open[i] > l.open[j] }
func (l *lineage) Swap(i, j int)      { l.open[i], l.open[j] = l.open[j], l.open[i] }
func (l *lineage) Push(id any)        { l.open = append(l.open, id.(int)) }

// Pop implements [heap.Interface].
func (l *lineage) Pop() any {
	last := l.open[len(l.open)-1]
	l.open = l.open[:len(l.open)-1]
	return last
}

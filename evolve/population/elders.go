package population

// elders are the members that a child was ever made of, by ID. Archives forget members, and a merge needs their
// common ancestor's program.
type elders struct {
	of    map[int]*Member
	queue []*Member // oldest first
	bytes int
}

// eldersBytes bounds the programs that are remembered. The oldest are forgotten first.
const eldersBytes = 64 << 20

func newElders() *elders { return &elders{of: make(map[int]*Member)} }

// add remembers m.
func (e *elders) add(m *Member) {
	if _, ok := e.of[m.ID]; ok {
		return
	}
	e.of[m.ID] = m
	e.queue = append(e.queue, m)
	e.bytes += memberBytes(m)
	for e.bytes > eldersBytes && len(e.queue) > 1 {
		e.bytes -= memberBytes(e.queue[0])
		delete(e.of, e.queue[0].ID)
		e.queue = e.queue[1:]
	}
}

// memberBytes is about how much memory a member takes.
func memberBytes(m *Member) int { return 256 + len(m.Program) + m.Result.Size() }

// ancestors returns the IDs of m and of all that it descends from, as far as they are remembered.
func (e *elders) ancestors(m *Member) map[int]bool {
	seen := map[int]bool{m.ID: true}
	for open := []*Member{m}; len(open) > 0; open = open[1:] {
		for _, id := range open[0].Parents {
			if p, ok := e.of[id]; ok && !seen[id] {
				seen[id] = true
				open = append(open, p)
			}
		}
	}
	return seen
}

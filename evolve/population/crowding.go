package population

import "fmt"

// Crowding is an archive of fixed size. When it is full, a new program replaces the member that it is most like if it
// is strictly better, so that what is unlike does not push itself out (deterministic crowding; ShinkaEvolve's
// "crowding").
//
// Source: S. W. Mahfoud, "Niching Methods for Genetic Algorithms" (1995), chapter 6.
type Crowding struct {
	Size int // required, at least 1
	// Like says how like two programs are; it is asked about every member. nil means the share of token shingles that
	// they have in common, as in [Unlike], which is looked up in an index.
	Like func(a, b string) float64

	ranked
	index *likeness
	byID  map[int]*Member
}

var _ Archive = (*Crowding)(nil)

func (c *Crowding) validate() error {
	if c.Size < 1 {
		return fmt.Errorf("population: Crowding.Size is %d: need at least 1", c.Size)
	}
	return nil
}

// crowdShingle is the number of tokens of a shingle. The language is not known here, so comments count.
const crowdShingle = 5

// Add keeps m if there is room, or if it is better than the member that it is most like.
func (c *Crowding) Add(m *Member) bool {
	var set []uint64
	if c.Like == nil {
		if set = shingles(m.Program, "", crowdShingle); c.index == nil {
			c.index, c.byID = newLikeness(crowdShingle), make(map[int]*Member)
		}
	}
	if len(c.list) >= c.Size {
		near := c.nearest(m, set)
		if !outranks(m, near) {
			return false
		}
		c.remove(near)
		if c.index != nil {
			c.index.remove(near.ID)
			delete(c.byID, near.ID)
		}
	}
	c.add(m)
	if c.index != nil {
		c.index.add(document{id: m.ID, at: m.ID, set: set})
		c.byID[m.ID] = m
	}
	return true
}

// nearest returns the member that is most like m: of equals the best with Like, and the oldest without. The index is
// asked for what is very like first, because that is quick, and a child is very like its parent.
func (c *Crowding) nearest(m *Member, set []uint64) *Member {
	near := c.list[len(c.list)-1] // the worst one, if m is like none
	if c.Like != nil {
		best := 0.0
		for i, other := range c.list {
			if like := c.Like(other.Program, m.Program); i == 0 || like > best {
				near, best = other, like
			}
		}
		return near
	}
	for _, least := range []float64{0.95, 0.8, 0.5, 0} {
		if id, _, found := c.index.nearest(set, least, 0, int(^uint(0)>>1)); found {
			return c.byID[id]
		}
	}
	return near
}

// String names the archive and its size.
func (c *Crowding) String() string { return fmt.Sprintf("Crowding(%d)", c.Size) }

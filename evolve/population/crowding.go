package population

import "fmt"

// Crowding returns an archive of at most size members. When it is full, a new program replaces the member that it is
// most like if it is strictly better, so that what is unlike does not push itself out (deterministic crowding;
// ShinkaEvolve's "crowding"). Two programs are as like as [Alike] has it, with comments.
//
// Source: S. W. Mahfoud, "Niching Methods for Genetic Algorithms" (1995), chapter 6.
func Crowding(size int) Archive {
	return &crowding{size: size, index: newLikeness(crowdShingle), byID: make(map[int]*Member)}
}

type crowding struct {
	size int
	ranked
	index *likeness
	byID  map[int]*Member
}

func (c *crowding) validate() error {
	if c.size < 1 {
		return fmt.Errorf("population: Crowding(%d): need at least 1", c.size)
	}
	return nil
}

// crowdShingle is the number of tokens of a shingle. The language is not known here, so comments count.
const crowdShingle = 5

// Add keeps m if there is room, or if it is better than the member that it is most like.
func (c *crowding) Add(m *Member) bool {
	set := shingles(m.Program, "", crowdShingle)
	if len(c.list) >= c.size {
		near := c.nearest(set)
		if !outranks(m, near) {
			return false
		}
		c.remove(near)
		c.index.remove(near.ID)
		delete(c.byID, near.ID)
	}
	c.add(m)
	c.index.add(document{id: m.ID, at: m.ID, set: set})
	c.byID[m.ID] = m
	return true
}

// nearest returns the member that is most like a program: of equals the oldest, and the worst one if it is like none. The
// index is asked for what is very like first, because that is quick, and a child is very like its parent.
func (c *crowding) nearest(set []uint64) *Member {
	for _, least := range []float64{0.95, 0.8, 0.5, 0} {
		if id, _, found := c.index.nearest(set, least, 0, int(^uint(0)>>1)); found {
			return c.byID[id]
		}
	}
	return c.list[len(c.list)-1]
}

// String names the archive and its size.
func (c *crowding) String() string { return fmt.Sprintf("Crowding(%d)", c.size) }

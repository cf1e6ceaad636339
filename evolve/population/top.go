package population

import "fmt"

// Top returns an archive of the n best programs. A new one replaces the worst if it is strictly better, so that of
// equals the older stays. Top(1) is a strict greedy search's. It panics if n < 1.
func Top(n int) Archive {
	if n < 1 {
		panic(fmt.Sprintf("population: Top(%d): need at least 1", n))
	}
	return &top{n: n}
}

type top struct {
	n int
	ranked
}

var _ Archive = (*top)(nil)

// Add keeps m unless n others are at least as good.
func (t *top) Add(m Member) bool {
	if t.replace(m) {
		return true
	}
	if len(t.list) == t.n {
		if t.place(m) == t.n {
			return false
		}
		t.list = t.list[:t.n-1]
	}
	t.add(m)
	return true
}

// String names the archive and its size.
func (t *top) String() string { return fmt.Sprintf("Top(%d)", t.n) }

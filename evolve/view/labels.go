package view

import "github.com/evoalloc/evoalloc/evolve/history"

// labels number the names that columns hold, because a number is shorter than a name in each of 40,000 rows.
type labels struct {
	names []string
	index map[string]int
	rows  int // children whose names have numbers
}

// mostLabels is how many names have numbers of their own. A search that names each child's operator anew must not fill
// what every page is sent.
const mostLabels = 10_000

func newLabels() labels { return labels{index: map[string]int{}} }

// of returns the number of a name.
func (l *labels) of(name string) int {
	i, ok := l.index[name]
	if !ok && len(l.names) >= mostLabels {
		name = history.Others
		i, ok = l.index[name]
	}
	if !ok {
		i = len(l.names)
		l.names = append(l.names, name)
		l.index[name] = i
	}
	return i
}

// list returns the names by number. They do not change any more, so the caller shares them.
func (l *labels) list() []string { return l.names[:len(l.names):len(l.names)] }

package view

import "github.com/evoalloc/evoalloc/evolve/history"

// labels number the names in columns, since a number is shorter than a name in each of 40,000 rows.
type labels struct {
	names []string
	index map[string]int
	rows  int // children whose names are numbered
}

// mostLabels bounds the numbered names, so that a search with a new operator name for each child cannot flood the page.
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

// list returns the names by number. They never change, so the caller may share them.
func (l *labels) list() []string { return l.names[:len(l.names):len(l.names)] }

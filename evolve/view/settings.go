package view

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve/journal"
)

// settings are what a run was given.
type settings struct {
	header, run journal.Fingerprint
	runs        int    // begun in the file
	first       int    // the number of the first search of the run read last
	starts      int    // evaluations before its first draw
	drawn       bool   // a search of it was drawn
	repeat      string // the command
}

// limit returns a limit of the budget by its field's name, 0 if it is not set. Times are in seconds.
func (s settings) limit(name string) float64 {
	text := s.run["Budget."+name]
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	v, _ := strconv.ParseFloat(text, 64)
	return finite(v) // an infinite one is none
}

// fields returns the names and values of a fingerprint in order of name, as they are.
func fields(f journal.Fingerprint) (list [][2]string) {
	for name, value := range f {
		list = append(list, [2]string{name, value})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

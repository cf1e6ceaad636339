package view

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// limitOf returns a limit of a run's budget by its field's name, or 0 if it is not set. Times are in seconds.
func limitOf(run *history.Run, name string) float64 {
	text := run.Given["Budget."+name]
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	v, _ := strconv.ParseFloat(text, 64)
	return finite(v) // an infinite limit is none
}

// finite returns v, or 0 if v is not finite, which JSON cannot hold.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// fields returns the names and unchanged values of a fingerprint, in order of name.
func fields(f journal.Fingerprint) (list [][2]string) {
	for name, value := range f {
		list = append(list, [2]string{name, value})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

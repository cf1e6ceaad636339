package report

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
)

// A Fresh is what the best program of a noisy search scores on samples that the search has not seen. Claim this, and
// not the score that the program was chosen by.
type Fresh struct {
	// the mean of the samples; 0 if there are none, or the program is invalid in one
	Score  float64 `json:"score"`
	SD     float64 `json:"sd"`               // their standard deviation; 0 for fewer than two
	N      int     `json:"n"`                // how many there are
	Reason string  `json:"reason,omitempty"` // why there are none, or fewer than there should be
}

// newFresh returns nil for a search that is not noisy.
func newFresh(r *evolve.Result) *Fresh {
	if r.Fresh == nil && r.Unconfirmed == "" {
		return nil
	}
	f := &Fresh{Reason: r.Unconfirmed}
	if r.Fresh != nil {
		f.Score, f.N = r.Fresh.Score, r.Fresh.N()
		f.SD, _ = samplesOf(*r.Fresh)
		if !r.Fresh.Valid {
			f.N, f.Reason = 0, r.Fresh.Reason
		}
	}
	return f
}

// samplesOf returns the standard deviation and number of a result's samples, 0 and 0 for a single one.
func samplesOf(r eval.Result) (sd float64, n int) {
	if r.Samples == nil {
		return 0, 0
	}
	return r.Samples.SD, r.Samples.N
}

package report

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve"
)

// A Greedy is the result of one search, in the form of the paper's files. Kind names a search that is not greedy.
type Greedy struct {
	setting // of the budget
	Search
	Total       *total      `json:"all_lives,omitempty"`        // nil if the result holds every call
	Evaluations int         `json:"evaluations"`                // that were made, not those remembered
	Tuned       int         `json:"tune_evaluations,omitempty"` // that a tuner made; they are not in Evaluations
	Stop        evolve.Stop `json:"stop"`
	Limit       string      `json:"limit,omitempty"` // the field of the Budget that bound if Stop is "budget"
	WallSeconds float64     `json:"wall_time_seconds"`
	Money       *float64    `json:"money,omitempty"` // cost of all calls, also of earlier incarnations; nil without prices
	// Fresh is what the best program scores on fresh samples, beside final_fitness; nil if the search is not noisy.
	Fresh   *Fresh   `json:"fresh,omitempty"`
	HeldOut *HeldOut `json:"held_out,omitempty"` // of the best program; nil unless [ScoreHeldOut] set it
}

// NewGreedy returns the report of a run of one search with the given seed. It panics unless r has one arm.
func NewGreedy(r *evolve.Result, h Header, seed uint32) Greedy {
	if len(r.Arms) != 1 {
		panic(fmt.Sprintf("report: NewGreedy of a run with %d arms: need 1", len(r.Arms)))
	}
	h.Model = h.Model.WithDefaults()
	_, arms := accounts(r, h.Model.ActiveParams)
	return Greedy{
		setting:     newSetting(h, h.T),
		Search:      newSearch(r.Arms[0], arms[0], int64(seed), h.Model),
		Total:       newTotal(r, h.Model),
		Evaluations: r.Evaluations,
		Tuned:       r.TuneEvaluations,
		Stop:        r.Stop,
		Limit:       r.Limit,
		Fresh:       newFresh(r),
		WallSeconds: r.Elapsed.Seconds(),
		Money:       h.money(r),
	}
}

// Path returns where the paper keeps such a file under a folder of results:
// TASK/MODEL/greedy_C<C>_T<T>_N<N>_seed<seed>.json. A breadth is named after N, as in N64_adaptive, and a search of
// another kind in the place of greedy.
func (g Greedy) Path() string {
	return greedyPath(g.Task, g.Model, g.Kind, g.C, g.T, g.N, g.Breadth, g.Seed)
}

// GreedyPath returns the Path of the [Greedy] of a run that is not made yet. A program can then check that it can
// write there, and that no earlier result is there, before anything is paid for.
func (h Header) GreedyPath(seed uint32) string {
	return greedyPath(h.Task, h.Model.Key, h.Kind, h.T*h.N, h.T, h.N, h.breadth(), int64(seed))
}

func greedyPath(task, model, kind string, c, t, n int, breadth string, seed int64) string {
	name := fmt.Sprintf("%s_C%d_T%d_N%d%s_seed%d.json", cmp.Or(kind, "greedy"), c, t, n, breadthTag(breadth), seed)
	return filepath.Join(task, model, name)
}

package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Bank is recorded searches of one task, all with the same number of children to a generation: real courses of
// the best score, where the other families make theirs from formulas. evoalloc bank makes banks with the library
// itself, and [ReadBankFile] reads them.
//
// As a [Family] it deals out the searches as the arms of a run, in an order that depends on the seed, the task
// and N. No search is dealt out twice in a run, so K arms are K different searches. With K equal to the number
// of searches every run has the same arms in another order; with far fewer, runs are nearly independent. Arms
// start from equal scores if the searches did, as they do unless evaluation is noisy.
//
// Scores are the task's own. They can be below 0 or above 1. A Bank is safe for concurrent use as long as
// nobody changes it.
type Bank struct {
	Task     string // what was searched: "cp"; required
	N        int    // children to a generation; at least 1
	Made     string // how the searches were made: the command or the model; may be ""
	Searches []Recorded
}

// A Recorded is the course of one search: its best score after each generation, kept as the generations in which
// it rose.
type Recorded struct {
	Seed        uint64 // what tells the search from the others of its bank
	Generations int    // how many the search made
	// Rises is the course of the best score, by generations, which are its pulls. The first point is generation 0,
	// the start. Both numbers of each are above those of the one before.
	Rises Course
}

var _ Family = (*Bank)(nil)

// Record returns the course of a search whose best score after 0, 1, ... generations is in best. Scores that are
// not above all earlier ones are no rises. It panics if best is empty, as a search starts from a score.
func Record(seed uint64, best []float64) Recorded {
	if len(best) == 0 {
		panic("sim: Record of no scores: need that of the start")
	}
	return Recorded{Seed: seed, Generations: len(best) - 1, Rises: newCourse(best)}
}

// Final returns the best score of the whole search.
func (r Recorded) Final() float64 { return r.Rises.last() }

// Best returns the best score after 0, 1, ..., generations, or up to the end of the search if that comes sooner.
func (r Recorded) Best(generations int) []float64 {
	best := make([]float64, 0, min(generations, r.Generations)+1)
	reader := cursor{course: r.Rises}
	for g := range cap(best) {
		best = append(best, reader.after(g))
	}
	return best
}

// Arm implements [Family]. A search that is shorter than a.Rounds gives fewer numbers, and its arm closes then.
// It panics where [Bank.Check] gives an error.
func (b *Bank) Arm(a Address) []float64 {
	if err := b.Check(a.Index+1, a.N); err != nil {
		panic(err.Error())
	}
	order := stream.New(a.Seed, fmt.Sprintf("bank/%s/%d", b.Task, b.N), 0).Perm(len(b.Searches))
	return b.Searches[order[a.Index]].Best(a.Rounds)
}

// Check returns an error if the bank cannot be played with k arms at n children to a generation: if n, of which 0
// means 1, is not the bank's N, or if k is not in 1 to the number of searches.
func (b *Bank) Check(k, n int) error {
	switch {
	case cmp.Or(n, 1) != b.N:
		return fmt.Errorf("sim: %v at N=%d: its searches were made with N=%d", b, cmp.Or(n, 1), b.N)
	case k < 1 || k > len(b.Searches):
		return fmt.Errorf("sim: %v with %d arms: it has %d searches, and need 1 to that many arms", b, k, len(b.Searches))
	}
	return nil
}

// String returns "bank-" and the name of the task.
func (b *Bank) String() string { return "bank-" + b.Task }

// validate says what is wrong with b, naming the search and the value.
func (b *Bank) validate() error {
	switch {
	case b.Task == "":
		return errors.New("the bank has no task: need a name")
	case b.N < 1:
		return fmt.Errorf("n is %d: need at least 1 child to a generation", b.N)
	case len(b.Searches) == 0:
		return errors.New("the bank has no searches: need at least 1")
	}
	seen := make(map[uint64]int, len(b.Searches))
	for i, r := range b.Searches {
		if j, twice := seen[r.Seed]; twice {
			return fmt.Errorf("searches %d and %d have the same seed, %d: need different searches", j, i, r.Seed)
		}
		seen[r.Seed] = i
		if err := r.validate(); err != nil {
			return fmt.Errorf("search %d of seed %d: %w", i, r.Seed, err)
		}
	}
	return nil
}

func (r Recorded) validate() error {
	switch {
	case r.Generations < 0:
		return fmt.Errorf("generations is %d: need at least 0", r.Generations)
	case len(r.Rises) == 0:
		return errors.New("it has no rises: need the score of generation 0")
	case r.Rises[0].Pulls != 0:
		return fmt.Errorf("its first rise is in generation %d: need that of generation 0, the start", r.Rises[0].Pulls)
	case r.Rises[len(r.Rises)-1].Pulls > r.Generations:
		return fmt.Errorf("its last rise is in generation %d of %d", r.Rises[len(r.Rises)-1].Pulls, r.Generations)
	}
	for i, rise := range r.Rises {
		switch {
		case math.IsNaN(rise.Score) || math.IsInf(rise.Score, 0):
			return fmt.Errorf("rise %d has the score %v: need a finite number", i, rise.Score)
		case i > 0 && rise.Pulls <= r.Rises[i-1].Pulls:
			return fmt.Errorf("rise %d is in generation %d, after one in %d: need them in order", i, rise.Pulls,
				r.Rises[i-1].Pulls)
		case i > 0 && rise.Score <= r.Rises[i-1].Score:
			return fmt.Errorf("rise %d is to %v, from %v: need a higher score, as a best score never falls", i, rise.Score,
				r.Rises[i-1].Score)
		}
	}
	return nil
}

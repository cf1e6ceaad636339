// Package sim measures policies on simulated arms, without a model and in seconds.
//
// A [Family] makes arms whose best score rises with their own pulls, as that of a search does. [Play] lets one policy
// play such arms once. [Study] compares several policies over many runs in many settings, on paired seeds; [Mean] and
// [GainOver] turn what it finds into means and differences with intervals.
package sim

// A Family makes simulated arms of one kind: searches whose best score so far, in [0, 1], rises with their
// own pulls, in jumps. A family has no state and is safe for concurrent use.
type Family interface {
	// Arm returns the best score of an arm after 0, 1, ..., a.Rounds pulls: numbers that never fall, in [0, 1].
	// Equal addresses give equal arms, and with more rounds the same numbers come
	// first. The arms of one seed all start from the same score, as searches do that start from one program. An
	// arm may give fewer numbers, for a search that ends before a.Rounds pulls, and closes then.
	Arm(a Address) []float64
	// String returns the family's short name.
	String() string
}

// An Address says which arm of a family is meant. An arm depends on nothing else, so policies that are played
// on equal seeds meet equal arms.
type Address struct {
	Seed   uint64 // of the run
	Index  int    // the arm's, from 0
	N      int    // children to a generation, which is a pull; 0 means 1
	Rounds int    // pulls
}

// Arms returns the arms 0 to k−1 of a run, as [Play] takes them.
func Arms(f Family, seed uint64, k, n, rounds int) [][]float64 {
	arms := make([][]float64, k)
	for i := range arms {
		arms[i] = f.Arm(Address{Seed: seed, Index: i, N: n, Rounds: rounds})
	}
	return arms
}

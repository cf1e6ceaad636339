package population

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// family returns n programs, each an edit of an earlier one.
func family(n, tokens int, r *rand.Rand) []string {
	programs := [][]string{make([]string, tokens)}
	for i := range programs[0] {
		programs[0][i] = fmt.Sprint("w", r.IntN(60))
	}
	for len(programs) < n {
		p := append([]string(nil), programs[r.IntN(len(programs))]...)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(p))
			switch r.IntN(4) {
			case 0:
				p[at] = fmt.Sprint("w", r.IntN(60))
			case 1:
				p = append(p[:at:at], append([]string{fmt.Sprint("v", r.IntN(9))}, p[at:]...)...)
			case 2:
				p = append(p[:at:at], p[at+1:]...)
			case 3:
				p[at] = fmt.Sprint(r.IntN(1000))
			}
		}
		programs = append(programs, p)
	}
	out := make([]string, n)
	for i, p := range programs {
		out[i] = strings.Join(p, " ")
	}
	return out
}

// brute is the similarity by its definition.
func brute(a, b []uint64) float64 {
	in := map[uint64]bool{}
	for _, s := range a {
		in[s] = true
	}
	both := 0
	for _, s := range b {
		if in[s] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// The index finds what a comparison with all programs finds, at every threshold, within any range of arrivals, and
// after programs were removed.
func TestNearestIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, k := range notrun.Few([]int{1, 3, 5}, 1) {
		programs := family(300, 40, r)
		index := newLikeness(k)
		sets, gone := make([][]uint64, len(programs)), map[int]bool{}
		for i, p := range programs[:250] {
			sets[i] = lex.Shingles(p, "", k)
			index.add(document{id: i, at: i, set: sets[i]})
			if i > 0 && r.IntN(3) == 0 {
				id := r.IntN(i)
				index.remove(id)
				gone[id] = true
			}
		}
		for _, p := range programs[200:] {
			set := lex.Shingles(p, "", k)
			from, to := r.IntN(100), 100+r.IntN(150)
			for _, least := range []float64{0, 0.3, 0.8, 0.95, 1} {
				best := -1.0
				for i := from; i < to; i++ {
					if !gone[i] {
						best = max(best, brute(set, sets[i]))
					}
				}
				id, like, found := index.nearest(set, least, from, to)
				if found != (best >= least && best > 0) || found &&
					(math.Abs(like-best) > 1e-12 || math.Abs(brute(set, sets[id])-best) > 1e-12) {
					t.Fatalf("k %d, at least %v in %d..%d: program %d at %v, found %v; the nearest is at %v", k, least, from, to, id,
						like, found, best)
				}
			}
		}
	}
}

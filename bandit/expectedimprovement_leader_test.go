package bandit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// deadLeader returns a search that rises in so many equal jumps within its first 20 pulls, and then never again, and one that
// closes a hundredth of its gap to 1 with every pull.
func deadLeader(jumps int, top float64) [][]float64 {
	leader, riser := []float64{0.1}, []float64{0.1}
	for n := 1; n <= 400; n++ {
		rises := (min(n, 20)*jumps + 19) / 20 // the first pull is one
		leader = append(leader, 0.1+(top-0.1)*float64(rises)/float64(jumps))
		riser = append(riser, riser[n-1]+0.01*(1-riser[n-1]))
	}
	return [][]float64{leader, riser}
}

// An arm that rose quickly and is silent then loses its claim to one that still rises, near the top as well as far from
// it.
func TestExpectedImprovementGivesUpDeadLeaders(t *testing.T) {
	for _, top := range []float64{0.5, 0.8, 0.97} {
		played, err := sim.Play(&bandit.ExpectedImprovement{T: 400}, deadLeader(10, top), sim.PlayConfig{Rounds: 400})
		if err != nil {
			t.Fatal(err)
		}
		leader := 0
		for _, arm := range played.Selections {
			leader += 1 - arm
		}
		if leader > 100 {
			t.Errorf("an arm that stopped at %v: %d of 400 pulls", top, leader)
		}
	}
}

// How long an arm may be silent is set by how often it jumped before. One that jumped very often gives itself away
// sooner than those that did not.
func TestExpectedImprovementEvidenceOfDeath(t *testing.T) {
	silence := func(jumps int) int {
		p := &bandit.ExpectedImprovement{T: 10000}
		arms := deadLeader(jumps, 0.6)
		for n := 1; n <= 12; n++ {
			p.Update(outcome(1), arms[1][n])
		}
		for n := 1; n <= 400; n++ {
			p.Update(outcome(0), arms[0][n])
			if n < 20 {
				continue
			}
			probs := make([]float64, 2)
			p.Probs(probs, bandit.Round{T: 12 + n, Open: all(2), Pending: make([]int, 2)})
			if probs[1] == 1 {
				return n - 20
			}
		}
		return math.MaxInt
	}
	few, some, many := silence(2), silence(5), silence(20)
	if !(many < some && many < few && max(some, few) < 400) {
		t.Errorf("given up after %d silent pulls with 2 jumps before, %d with 5, %d with 20", few, some, many)
	}
}

// Scores of a millionth and of millions, and below 0, bring the same gain. Rounding may bring other pulls, where arms are
// nearly alike.
func TestExpectedImprovementExtremeScales(t *testing.T) {
	for _, f := range []sim.Family{sim.Named("heavy-tail"), sim.Named("late-bloomers")} {
		share := func(f sim.Family) float64 {
			return meanShare(t, []sim.Family{f}, 10, 120, func() bandit.Policy { return &bandit.ExpectedImprovement{T: 120} })
		}
		want := share(f)
		for _, s := range []scaled{{f, 1e-6, 0}, {f, 1e6, -3e6}, {f, 0.3, -1}, {f, 1e-6, 1}} {
			if got := share(s); math.Abs(got-want) > 0.01 {
				t.Errorf("%v·%v%+v: %.4f of what there is to gain, %.4f on its own scale", f, s.factor, s.shift, got, want)
			}
		}
	}
}

// scaled is a family's arms on another scale.
type scaled struct {
	sim.Family
	factor, shift float64
}

func (f scaled) Arm(a sim.Address) []float64 {
	arm := f.Family.Arm(a)
	for i := range arm {
		arm[i] = f.shift + f.factor*arm[i]
	}
	return arm
}

// Two searches: one that rose quickly and has stopped, and one that is behind and still rises.
func ExampleExpectedImprovement_deadLeader() {
	arms := deadLeader(10, 0.6)
	played, err := sim.Play(&bandit.ExpectedImprovement{T: 200}, arms, sim.PlayConfig{Rounds: 200})
	if err != nil {
		panic(err)
	}
	for from := 0; from < 200; from += 40 {
		pulls := [2]int{}
		for _, arm := range played.Selections[from : from+40] {
			pulls[arm]++
		}
		fmt.Println(pulls)
	}
	// Output:
	// [37 3]
	// [7 33]
	// [0 40]
	// [0 40]
	// [0 40]
}

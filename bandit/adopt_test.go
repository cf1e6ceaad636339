package bandit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

// halves gives two arms ¼ and ¾ and remembers what it is told.
type halves struct{ told []bandit.Pull }

func (h *halves) Probs(p []float64, _ bandit.Round)       { p[0], p[1] = 0.25, 0.75 }
func (h *halves) Update(pull bandit.Pull, reward float64) { h.told = append(h.told, pull) }

func TestDrawAtDependsOnTheAddressAlone(t *testing.T) {
	open := []bool{true, true}
	draw := func(seed uint64, addresses ...uint64) map[uint64]int {
		pl, arms := bandit.NewPlayer(&halves{}, 2, seed), map[uint64]int{}
		for _, a := range addresses {
			pull, err := pl.DrawAt(open, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			arms[a] = pull.Arm
		}
		return arms
	}
	var forth, back []uint64
	for a := range uint64(2000) {
		forth, back = append(forth, a), append(back, 1999-a)
	}
	a, b, other := draw(1, forth...), draw(1, back...), draw(2, forth...)
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("the order of the draws shows")
	}
	if fmt.Sprint(a) == fmt.Sprint(other) {
		t.Error("the seed does not show")
	}
	second := 0
	for _, arm := range a {
		second += arm
	}
	if d := math.Abs(float64(second) - 1500); d > 5*math.Sqrt(2000*0.25*0.75) { // five standard deviations
		t.Errorf("%d of 2000 draws are of an arm with chance ¾", second)
	}
}

func TestAdopt(t *testing.T) {
	policy := &halves{}
	pl := bandit.NewPlayer(policy, 2, 1)
	pull, err := pl.Adopt(1, 0.125)
	if err != nil || pl.InFlight() != 1 {
		t.Fatalf("%v, %v, %d pending", pull, err, pl.InFlight())
	}
	if err := pl.Report(pull.ID, 1); err != nil {
		t.Fatal(err)
	}
	if want := (bandit.Pull{ID: 0, Arm: 1, Prob: 0.125, Arms: 2}); len(policy.told) != 1 || policy.told[0] != want {
		t.Errorf("the policy was told %v, want %v", policy.told, want)
	}
	if next, _ := pl.Draw([]bool{true, true}); next.ID != 1 {
		t.Errorf("the next draw is number %d: an adopted one counts", next.ID)
	}
	for _, tt := range []struct {
		reason string
		arm    int
		prob   float64
	}{{"no such arm", 2, 1}, {"no arm", -1, 1}, {"never drawn", 0, 0}, {"above 1", 0, 1.01},
		{"no number", 0, math.NaN()}} {
		if _, err := pl.Adopt(tt.arm, tt.prob); err == nil {
			t.Errorf("%s is accepted", tt.reason)
		}
	}
}

// A policy whose outcomes were drawn elsewhere has to know how many arms there are, as one that drew them
// does. These have the number of arms in their updates, and the wrappers pass it on.
func TestAdoptedAndDrawnPullsWeighTheSame(t *testing.T) {
	for _, fresh := range []func() bandit.Policy{
		func() bandit.Policy { return &bandit.PaperEXP3P{} },
		func() bandit.Policy { return &bandit.EXP3P{} },
		func() bandit.Policy { return bandit.Discounted(bandit.Normalize(&bandit.EXP3P{T: 50}, -1, 2), 0.9) },
		func() bandit.Policy {
			return bandit.WithFloor(bandit.Mix([]float64{1, 2}, &bandit.EXP3P{T: 100}, &bandit.PaperEXP3P{}), 0.1)
		},
	} {
		compareAdopted(t, fresh)
	}
}

func compareAdopted(t *testing.T, fresh func() bandit.Policy) {
	t.Helper()
	open := all(5)
	drawn, adopted := bandit.NewPlayer(fresh(), 5, 1), bandit.NewPlayer(fresh(), 5, 1)
	for range 20 {
		pull, err := drawn.Draw(open)
		if err != nil {
			t.Fatal(err)
		}
		drawn.Report(pull.ID, float64(pull.Arm)/4)
		again, err := adopted.Adopt(pull.Arm, pull.Prob)
		if err != nil {
			t.Fatal(err)
		}
		adopted.Report(again.ID, float64(pull.Arm)/4)
	}
	a, _ := drawn.Draw(open)
	b, _ := adopted.Draw(open)
	if a != b {
		t.Errorf("%v: after the same outcomes they draw %+v and %+v", fresh(), a, b)
	}
}

func ExamplePlayer_Adopt() {
	policy := &bandit.UCB1{}
	player := bandit.NewPlayer(policy, 2, 0)
	pull, _ := player.Adopt(0, 1) // from a record: arm 0 was drawn for certain
	player.Report(pull.ID, 0.5)
	next, _ := player.Draw([]bool{true, true})
	fmt.Println(next.Arm)
	// Output: 1
}

package race

import (
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit/sim"
)

// What [sim.Family] promises, for every family.
func TestFamilies(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range append(Families(), Unlike()...) {
		if names[f.String()] {
			t.Errorf("two families named %v", f)
		}
		names[f.String()] = true
		for seed := range uint64(5) {
			start := f.Arm(sim.Address{Seed: seed})[0]
			for i, arm := range sim.Arms(f, seed, 6, 2, 40) {
				checkArm(t, f, arm, start)
				again := f.Arm(sim.Address{Seed: seed, Index: i, N: 2, Rounds: 25})
				if !slices.Equal(again, arm[:26]) {
					t.Errorf("%v: arm %d of seed %d with fewer rounds is not the beginning of that with more", f, i, seed)
				}
			}
		}
	}
	if len(names) != 20+16 {
		t.Errorf("%d families, want 20 and 16 unlike them", len(names))
	}
	for _, f := range append(Ideas(), HeldOut()...) {
		names[f.String()] = true
	}
	for _, f := range sim.Families() {
		if !names[f.String()] {
			t.Errorf("%v of package sim is in no list", f)
		}
	}
	for _, f := range Deciding() {
		if !slices.ContainsFunc(Unlike(), func(other sim.Family) bool { return other.String() == f.String() }) {
			t.Errorf("%v decides, and is not among those unlike the others", f)
		}
	}
}

func checkArm(t *testing.T, f sim.Family, arm []float64, start float64) {
	t.Helper()
	if len(arm) != 41 || arm[0] != start {
		t.Errorf("%v: an arm of %d scores from %v, want 41 from %v", f, len(arm), arm[0], start)
	}
	last := arm[0]
	for n, score := range arm {
		if !(score >= last && score >= 0 && score <= 1) {
			t.Errorf("%v: score %v after %d pulls, %v before", f, score, n, last)
		}
		last = score
	}
}

// Arms of searches differ from each other, and from seed to seed.
func TestArmsDiffer(t *testing.T) {
	for _, f := range append(Families()[8:], Unlike()[7:]...) {
		seen := make(map[float64]bool)
		for seed := range uint64(4) {
			for _, arm := range sim.Arms(f, seed, 4, 1, 300) {
				seen[arm[300]] = true
			}
		}
		if len(seen) < 8 {
			t.Errorf("%v: 16 arms come to %d different scores", f, len(seen))
		}
	}
}

// An objective or a kind that is not there is a slip of the programmer.
func TestUnknownObjectives(t *testing.T) {
	for _, f := range []sim.Family{HillClimb{Objective: "xy"}, Landscape{Kind: "xy"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v makes an arm", f)
				}
			}()
			f.Arm(sim.Address{Rounds: 1})
		}()
	}
}

package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// What [Family] promises, for every family.
func TestFamilies(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range Families() {
		if names[f.String()] {
			t.Errorf("two families named %v", f)
		}
		names[f.String()] = true
		for seed := range uint64(5) {
			start := f.Arm(Address{Seed: seed})[0]
			for i, arm := range Arms(f, seed, 6, 2, 40) {
				checkArm(t, f, arm, start)
				again := f.Arm(Address{Seed: seed, Index: i, N: 2, Rounds: 25})
				if !slices.Equal(again, arm[:26]) {
					t.Errorf("%v: arm %d of seed %d with fewer rounds is not the beginning of that with more", f, i, seed)
				}
			}
		}
	}
	if len(names) != 12 {
		t.Errorf("%d families, want 12", len(names))
	}
	if Named("linear") != Families()[5] { // so settings can be compared
		t.Error("a family is not equal to itself")
	}
}

func checkArm(t *testing.T, f Family, arm []float64, start float64) {
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

// Arms differ from each other, and from seed to seed.
func TestArmsDiffer(t *testing.T) {
	for _, f := range Families() {
		seen := make(map[float64]bool)
		for seed := range uint64(4) {
			for _, arm := range Arms(f, seed, 4, 1, 300) {
				seen[arm[300]] = true
			}
		}
		if len(seen) < 8 {
			t.Errorf("%v: 16 arms come to %d different scores", f, len(seen))
		}
	}
}

// A generation of N children of a formula is N generations of one.
func TestGenerationsOfMany(t *testing.T) {
	for _, f := range families {
		one, eight := f.Arm(Address{Seed: 3, Rounds: 160}), f.Arm(Address{Seed: 3, N: 8, Rounds: 20})
		for n, score := range eight {
			if score != one[8*n] {
				t.Fatalf("%v: %v after %d generations of 8, %v after as many children one by one", f, score, n, one[8*n])
			}
		}
	}
}

// share returns the share of 4000 arms for which ok holds. Its standard deviation is at most 0.008.
func share(f Family, rounds int, ok func(arm []float64) bool) float64 {
	n := 0
	for i := range 4000 {
		if ok(f.Arm(Address{Seed: 77, Index: i, Rounds: rounds})) {
			n++
		}
	}
	return float64(n) / 4000
}

// The families are what their comments say: shares and means follow from the formulas, tolerances are four
// standard deviations.
func TestFamiliesByFormula(t *testing.T) {
	for _, c := range []struct {
		why       string
		got, want float64
		tolerance float64
	}{
		{"a breakthrough within 15 children: the mean over log-uniform q of 1 − (1−q)¹⁵",
			share(Named("breakthrough"), 15, func(a []float64) bool { return a[15] > 0 }),
			meanOverScale(1.0/300, 1.0/15, func(q float64) float64 { return 1 - math.Pow(1-q, 15) }), 0.032},
		{"a plateau reached by child 404: every arm that stops, and nearly none that does not",
			share(Named("plateaus"), 520, func(a []float64) bool { return a[404] == a[520] }), 0.7, 0.032},
		{"late bloomers end above 0.66, beyond the ceiling of the others",
			share(Named("late-bloomers"), 900, func(a []float64) bool { return a[900] > 0.66 }), 0.3, 0.032},
		{"an idea worth 0.9 or more, at the end of 600 children: u ≤ (0.8/0.12)^(−1/0.6)",
			share(Named("ideas"), 600, func(a []float64) bool { return a[600] >= 0.89 }), math.Pow(0.8/0.12, -1/0.6), 0.016},
		{"a rare gain in 30 children",
			share(Named("rare-luck"), 30, func(a []float64) bool { return a[30] > 0.1 }), 1 - math.Pow(0.97, 30), 0.032},
		{"no improvement in 20 children of chance 0.05",
			share(Named("exchangeable"), 20, func(a []float64) bool { return a[20] == 0.2 }), math.Pow(0.95, 20), 0.032},
		{"what is left of the gap after 100 children: each closes 0.05·0.01 of it on average",
			meanAt(Named("exchangeable"), 100), 1 - 0.8*math.Pow(1-0.0005, 100), 0.002},
		{"the median of log-uniform v is √(0.0001·0.001)",
			share(Named("linear"), 100, func(a []float64) bool { return a[100] > 100*math.Sqrt(1e-7) }), 0.5, 0.032},
		{"every arm is linear",
			share(Named("linear"), 100, func(a []float64) bool { return math.Abs(a[100]-2*a[50]) < 1e-12 && a[50] > 0 }), 1, 0},
	} {
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("%s: %.3f, want %.3f ± %.3f", c.why, c.got, c.want, c.tolerance)
		}
	}
}

// meanAt returns the mean score of 4000 arms after so many pulls.
func meanAt(f Family, rounds int) float64 {
	var sum float64
	for i := range 4000 {
		sum += f.Arm(Address{Seed: 79, Index: i, Rounds: rounds})[rounds]
	}
	return sum / 4000
}

// Of two arms the faster one ends lower more often than not: in 0.765 of the pairs here, and in none if the curves
// did not cross. After 6τ the curve of an arm is at its top, so scores there lie in 0.2 to 1, but for the noise.
func TestCrossing(t *testing.T) {
	const arms = 300
	var early, late []float64
	for i := range arms {
		a := Named("crossing").Arm(Address{Seed: 4, Index: i, Rounds: 6000})
		early, late = append(early, a[20]), append(late, a[6000])
		if a[6000] < 0.2 || a[6000] > 1 {
			t.Errorf("arm %d ends at %v", i, a[6000])
		}
	}
	crossed := 0
	for i := range arms {
		for j := range i {
			if (early[i] < early[j]) != (late[i] < late[j]) {
				crossed++
			}
		}
	}
	if share := float64(crossed) / (arms * (arms - 1) / 2); share < 0.7 {
		t.Errorf("the curves of %.3f of the pairs cross", share)
	}
}

// meanOverScale returns the mean of f over [lo, hi], log-uniformly, by the midpoint rule.
func meanOverScale(lo, hi float64, f func(float64) float64) float64 {
	const steps = 1000
	var sum float64
	for i := range steps {
		sum += f(lo * math.Pow(hi/lo, (float64(i)+0.5)/steps))
	}
	return sum / steps
}

// The best of s draws from a Gumbel distribution is one of the same scale, shifted by scale·ln s: by the mean of
// log-uniform scales in 0.01 to 0.06 here, as long as no score comes to 1.
func TestDrawsRiseAsTheLogarithm(t *testing.T) {
	var sum, squares float64
	for i := range 4000 {
		a := Named("draws").Arm(Address{Seed: 5, Index: i, Rounds: 64})
		gain := a[64] - a[16]
		sum, squares = sum+gain, squares+gain*gain
	}
	mean := sum / 4000
	sd := math.Sqrt((squares/4000 - mean*mean) / 4000)
	if want := meanOverScale(0.01, 0.06,
		func(width float64) float64 { return width }) * math.Log(4); math.Abs(mean-want) > 4*sd+0.0002 {
		t.Errorf("the best of 64 is %.5f above the best of 16, want %.5f ± %.5f", mean, want, 4*sd)
	}
}

// A family that is not there is a slip of the programmer.
func TestNamed(t *testing.T) {
	defer func() {
		if v := recover(); v != `sim: no family is named "swamp": names are those of Families` {
			t.Errorf("%v", v)
		}
	}()
	Named("swamp")
}

// No score of a formula is above 1, and a child that is not better changes nothing.
func TestFormulaByHand(t *testing.T) {
	f := &formula{Name: "thirds", Start: 0.2, New: func(*rand.Rand) func(int, float64) float64 {
		return func(child int, best float64) float64 { return []float64{0.1, best + 0.3, 7}[child%3] }
	}}
	if got, want := f.Arm(Address{Rounds: 4}), []float64{0.2, 0.5, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("the arm's best scores are %v, want %v", got, want)
	}
}

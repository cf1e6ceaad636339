package race

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit/sim"
)

// of returns n numbers.
func of(n int, value func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = value(i)
	}
	return x
}

func constant(v float64) func(int) float64 { return func(int) float64 { return v } }

// Scores worked out by hand.
func TestLandscapesByHand(t *testing.T) {
	barker := []float64{1, 1, 1, 1, 1, -1, -1, 1, 1, -1, 1, -1, 1} // all autocorrelations are 0 or 1: six of them 1
	alternating := func(i int) float64 { return float64(1 - 2*(i%2)) }
	rastriginTop := func(i int) float64 { return 2*hashed(3000+uint64(i)) - 1 }
	ackleyTop := func(i int) float64 { return 10 * (2*hashed(17000+uint64(i)) - 1) }
	var nkZeros, nkOnes float64
	for i := range uint64(48) {
		nkZeros += hashed(i<<8) / 48 / 0.8
		nkOnes += hashed(i<<8|63) / 48 / 0.8
	}
	heavy := func(i uint64) float64 { return 0.1 + hashed(15000+i) }
	var worth float64
	for i := range uint64(60) {
		worth += heavy(i) * (0.8 + 0.4*hashed(16000+i))
	}
	for _, c := range []struct {
		why, kind string
		x         []float64
		want      float64
	}{
		{"no bit set: all settings are 0", "nk", of(48, constant(0)), nkZeros},
		{"all bits set: all settings are 63", "nk", of(48, constant(1)), nkOnes},
		{"autocorrelations 39, 38, ..., 1: the sum of squares is 20540", "labs", of(40, constant(1)), 800.0 / 20540 / 8},
		{"the same with signs that alternate", "labs", of(40, alternating), 800.0 / 20540 / 8},
		{"Barker's code of 13 has the merit 169/12", "labs", barker, 169.0 / 12 / 8},
		{"nothing set is next to the best", "trap", of(48, constant(0)), 0.6},
		{"everything set is the best", "trap", of(48, constant(1)), 1},
		{"three of each block set is the worst", "trap", of(48, func(i int) float64 { return min(float64(i%4), 1) }), 0},
		{"one block of twelve is set", "trap", of(48, func(i int) float64 { return float64((51 - i) / 48) }),
			(1 + 11*0.6) / 12},
		{"three cities, there and on and back", "tsp", []float64{0, 1, 2},
			min(1, 4/(between2(0, 1)+between2(1, 2)+between2(2, 0)))},
		{"the top, which is moved from 0", "rastrigin", of(8, rastriginTop), 1},
		{"one coordinate off by 1, where the waves are as at the top: f = 1", "rastrigin",
			of(8, func(i int) float64 { return rastriginTop(i) + float64(i/7) }), 1 / 1.1},
		{"the top", "valley", of(6, constant(1)), 1},
		{"0: each of five terms is 1", "valley", of(6, constant(0)), 1 / 1.5},
		{"the start, −1: each of five terms is 404", "valley", of(6, constant(-1)), 1.0 / 203},
		{"all in one part: nothing between the parts", "maxcut", of(40, constant(1)), 0},
		{"nothing taken", "knapsack", of(60, constant(0)), 0},
		{"everything is too heavy", "knapsack", of(60, constant(1)), 0},
		{"the first thing alone", "knapsack", of(60, func(i int) float64 { return float64((60 - i) / 60) }),
			2.5 * heavy(0) * (0.8 + 0.4*hashed(16000)) / worth},
		{"the top, which is moved from 0", "ackley", of(8, ackleyTop), 1},
		{"all coordinates off by 1: the waves are as at the top", "ackley",
			of(8, func(i int) float64 { return ackleyTop(i) + 1 }), 1 / (1 + 5*(1-math.Exp(-0.2)))},
	} {
		if got := terrains[c.kind].score(c.x); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s, %s: %v, want %v", c.kind, c.why, got, c.want)
		}
	}
	if got, want := hashed(0), float64(0xe220a8397b1dcdaf>>11)/(1<<53); got != want { // SplitMix64's first number of seed 0
		t.Errorf("hashed(0) is %v, want %v", got, want)
	}
}

// between2 returns the distance of two cities.
func between2(a, b uint64) float64 {
	return math.Hypot(hashed(1000+a)-hashed(1000+b), hashed(2000+a)-hashed(2000+b))
}

// A cut by hand: the weight of the edges of one node alone. Both parts are alike, so their exchange changes nothing.
func TestMaxcutByHand(t *testing.T) {
	var all, first float64
	for i := range uint64(40) {
		for j := range i {
			if key := 5000 + 64*i + j; hashed(key) < 0.2 {
				all += hashed(key + 4096)
				if j == 0 {
					first += hashed(key + 4096)
				}
			}
		}
	}
	alone := of(40, func(i int) float64 { return min(float64(i), 1) })
	others := of(40, func(i int) float64 { return 1 - alone[i] })
	if a, b := maxcut(alone), maxcut(others); math.Abs(a-first/all/0.75) > 1e-12 || math.Abs(a-b) > 1e-12 || first == 0 {
		t.Errorf("node 0 alone: %v, all the others: %v, want %v", a, b, first/all/0.75)
	}
}

// All arms of all seeds start from the same solution, which nothing that a search does changes.
func TestLandscapesStart(t *testing.T) {
	for _, l := range Landscapes() {
		start := terrains[l.Kind].start()
		want := terrains[l.Kind].score(start)
		for seed := range uint64(3) {
			s := l.Search(sim.Address{Seed: seed, Index: int(seed)})
			if s.Best() != want || !slices.Equal(parentOf(s), start) {
				t.Errorf("%v: seed %d starts from %v, want %v", l, seed, s.Best(), want)
			}
			s.Step(200)
			if s.Best() <= want {
				t.Errorf("%v: 200 children of the start bring nothing", l)
			}
		}
	}
}

// The best score is the parent's, whatever was edited.
func TestLandscapeParents(t *testing.T) {
	for _, l := range Landscapes() {
		w := l.Search(sim.Address{Seed: 9}).(*walk)
		for n := range 300 {
			w.Step(1 + n%4)
			if got := w.worth(w.parent); got != w.best || got < 0 || got > 1 {
				t.Fatalf("%v: best score %v, the parent's is %v", l, w.best, got)
			}
		}
	}
}

// Edits stay within the domain.
func TestLandscapeEdits(t *testing.T) {
	most := map[string]float64{"rastrigin": 5.12, "valley": 2, "ackley": 30}
	for _, l := range Landscapes() {
		r, e := rand.New(rand.NewPCG(1, 2)), terrains[l.Kind]
		x := e.start()
		for range 5000 {
			before := slices.Clone(x)
			e.edit(r, x, 0.5)
			if l.Kind == "tsp" {
				checkTour(t, before, x)
				continue
			}
			changed := 0
			for i, v := range x {
				if v != before[i] {
					changed++
				}
				switch bound, real := most[l.Kind]; {
				case real && math.Abs(v) > bound, l.Kind == "labs" && math.Abs(v) != 1, !real && l.Kind != "labs" && v != 0 &&
					v != 1:
					t.Fatalf("%v: %v in place %d", l, v, i)
				}
			}
			if changed > 1 {
				t.Fatalf("%v: one step changes %d places", l, changed)
			}
		}
	}
}

// checkTour holds that a tour visits every city once, and that an edit of it makes no more than three new connections: two
// by turning a part around, three by moving a city.
func checkTour(t *testing.T, before, x []float64) {
	t.Helper()
	cities := slices.Sorted(slices.Values(x))
	for i, city := range cities {
		if city != float64(i) {
			t.Fatalf("%v is no tour of %d cities", x, len(x))
		}
	}
	old := make(map[[2]float64]bool)
	for i, city := range before {
		next := before[(i+1)%len(before)]
		old[[2]float64{city, next}], old[[2]float64{next, city}] = true, true
	}
	made := 0
	for i, city := range x {
		if !old[[2]float64{city, x[(i+1)%len(x)]}] {
			made++
		}
	}
	if made > 3 {
		t.Fatalf("an edit makes %d new connections: %v, %v", made, before, x)
	}
}

func TestLandscapeKinds(t *testing.T) {
	kinds := Landscapes()
	if len(kinds) != len(terrains) {
		t.Errorf("%d of %d landscapes", len(kinds), len(terrains))
	}
	defer func() {
		if v := recover(); v != `race: unknown kind "swamp" of a Landscape: it is one of nk, labs, trap, tsp, rastrigin, valley, maxcut, knapsack, ackley` {
			t.Errorf("%v", v)
		}
	}()
	Landscape{Kind: "swamp"}.Arm(sim.Address{})
}

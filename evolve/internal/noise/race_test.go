package noise_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/noise"
)

// outcome races two programs whose difference has a mean and a standard deviation, and looks after each pair.
func outcome(r *rand.Rand, alpha, mean, sd float64, most int) (decided, pairs int) {
	race := noise.Race{Alpha: alpha}
	for i := range most {
		race.Add(mean + sd*r.NormFloat64())
		if d := race.Decided(); d != 0 {
			return d, i + 1
		}
	}
	return 0, most
}

// However often it is looked at, a race of equals is decided with a chance of Alpha at most, and of either in half of these.
// A test at a fixed number of pairs would be wrong far more often.
func TestRaceHoldsItsErrorUnderPeeking(t *testing.T) {
	const races = 2000
	for _, alpha := range []float64{0.5, 0.2, 0.05} {
		for _, most := range []int{16, 400} {
			for _, mean := range []float64{0, -0.1, 0.1} {
				r := rand.New(rand.NewPCG(1, uint64(most)))
				var up, down float64
				for range races {
					switch d, _ := outcome(r, alpha, mean, 3, most); d {
					case 1:
						up++
					case -1:
						down++
					}
				}
				wrong := up + down
				if mean < 0 {
					wrong = up
				} else if mean > 0 {
					wrong = down
				}
				if bound := races*alpha + 3*math.Sqrt(races*alpha*(1-alpha)); wrong > bound {
					t.Errorf("alpha %v, mean %v, up to %d pairs: %v of %d races are wrong, want at most %.0f", alpha, mean, most, wrong, races, bound)
				}
				if mean == 0 && most == 400 && math.Abs(up-down) > 4*math.Sqrt(races*alpha) {
					t.Errorf("alpha %v: %v races of equals for one and %v for the other", alpha, up, down)
				}
				// The bound is not an empty one: much of it is used up.
				if mean == 0 && most == 400 && wrong < races*alpha/3 {
					t.Errorf("alpha %v: only %v of %d races of equals are decided", alpha, wrong, races)
				}
			}
		}
	}
}

// A large difference is decided, rightly and soon.
func TestRaceDecides(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	total := 0
	for range 1000 {
		d, pairs := outcome(r, 0.05, -6, 2, 16)
		if total += pairs; d != -1 {
			t.Errorf("a difference of three standard deviations is decided as %d after %d pairs", d, pairs)
		}
	}
	if total < 4000 || total > 7000 {
		t.Errorf("%.1f pairs on average, want about 5.5", float64(total)/1000)
	}
}

func TestRaceOfScoresThatRepeat(t *testing.T) {
	for _, tt := range []struct {
		d    float64
		want int
	}{{0, 0}, {1e-9, 1}, {-1e9, -1}, {math.NaN(), 0}, {math.Inf(1), 0}} {
		race := noise.Race{Alpha: 0.1}
		for range 4 {
			race.Add(tt.d)
		}
		if got := race.Decided(); got != tt.want {
			t.Errorf("four differences of %v are decided as %d, want %d", tt.d, got, tt.want)
		}
		if (&noise.Race{Alpha: 0.1}).Decided() != 0 {
			t.Error("a race without a sample is decided")
		}
	}
}

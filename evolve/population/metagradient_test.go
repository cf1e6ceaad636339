package population

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var about = cmpopts.EquateApprox(0, 1e-9)

// Utilities worked out by hand from section 3.1 of Wierstra et al. For λ = 4, ln(λ/2 + 1) = ln 3, and the raw ones are
// ln 3, ln 3/2, 0, 0.
func TestUtilities(t *testing.T) {
	first, second := math.Log(3), math.Log(1.5)
	sum := first + second
	for _, tt := range []struct {
		reason  string
		rewards []float64
		want    []float64
	}{
		{"by rank, whatever the order and the sizes", []float64{-1e9, 7, 0, 8}, []float64{-0.25, second/sum - 0.25, -0.25, first/sum - 0.25}},
		{"two share the first places", []float64{5, 5, 1, 2}, []float64{0.25, 0.25, -0.25, -0.25}},
		{"a tie at the end", []float64{3, 0, 0, 0}, []float64{first/sum - 0.25, second/sum/3 - 0.25, second/sum/3 - 0.25, second/sum/3 - 0.25}},
		{"nothing to choose", []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}},
	} {
		var batch []sample
		for _, r := range tt.rewards {
			batch = append(batch, sample{reward: r})
		}
		if diff := cmp.Diff(tt.want, utilities(batch), about); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// A step by hand from algorithm 6: d = 2, λ = 2, ημ = 1, ησ = (3 + ln 2)/(5·√2). With λ = 2 utilities are 1/2 and −1/2.
//
//	∇μ = ½·(1, 0.5) − ½·(−1, 2) = (1, −0.75)
//	∇σ = ½·(0, −0.75) − ½·(0, 3) = (0, −1.875)
func TestNaturalStep(t *testing.T) {
	m := &MetaGradient{mean: []float64{10, 20}, sigma: []float64{0.5, 2},
		batch: []sample{{[]float64{1, 0.5}, 1}, {[]float64{-1, 2}, 0}}}
	m.step(utilities(m.batch))
	rate := (3 + math.Log(2)) / (5 * math.Sqrt2)
	if diff := cmp.Diff([]float64{10.5, 18.5}, m.mean, about); diff != "" {
		t.Errorf("mean (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{0.5, 2 * math.Exp(-rate/2*1.875)}, m.sigma, about); diff != "" {
		t.Errorf("sigma (-want +got):\n%s", diff)
	}
}

// On a quadratic whose top is at weights of 1 to 9, explore 0.8 and temperature 2 it converges, and sigma shrinks.
func TestConvergesOnAQuadratic(t *testing.T) {
	square := func(got, want float64) float64 { return (got - want) * (got - want) }
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	m := &MetaGradient{From: Settings{Weights: []float64{1, 1}, Explore: 0.1, Temperature: 1},
		Reward: func(t Trial) float64 {
			s := t.Settings
			return -square(math.Log(s.Weights[1]/s.Weights[0]), math.Log(9)) - square(logit(s.Explore), logit(0.8)) - square(math.Log(s.Temperature), math.Log(2))
		}}
	for i := range uint64(4000) {
		if err := m.Learn(Trial{Settings: m.Next(rand.New(rand.NewPCG(5, i)))}); err != nil {
			t.Fatal(err)
		}
	}
	got := m.at(m.mean)
	near := func(what string, v, want float64) {
		if math.Abs(v-want) > 0.01*want {
			t.Errorf("%s is %v, want %v within 1 %%", what, v, want)
		}
	}
	near("the second weight", got.Weights[1], 0.9)
	near("explore", got.Explore, 0.8)
	near("temperature", got.Temperature, 2)
	if m.sigma[2] > 0.01 {
		t.Errorf("sigma is %v, which has not shrunk", m.sigma)
	}
}

// Without any reward the mean and sigma stay where they are: the placebo draws from the Gaussian of the beginning.
func TestStillStays(t *testing.T) {
	m := &MetaGradient{From: Settings{Weights: []float64{1, 3, 0}}, Sigma: 0.3, Reward: Still}
	for i := range uint64(200) {
		s := m.Next(rand.New(rand.NewPCG(1, i)))
		if s.Weights[2] != 0 {
			t.Fatalf("a weight of 0 becomes %v", s.Weights[2])
		}
		if err := m.Learn(Trial{Settings: s}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([][]float64{{0, math.Log(3)}, {0.3, 0.3}}, [][]float64{m.mean, m.sigma}, about); diff != "" {
		t.Errorf("mean and sigma (-want +got):\n%s", diff)
	}
	if m.batches != 33 { // of 4 + ⌊3·ln 2⌋ = 6
		t.Errorf("%d batches of 200 generations, want 33", m.batches)
	}
}

// However far rewards drive it, settings are finite and right for any search.
func TestSettingsStayFinite(t *testing.T) {
	m := &MetaGradient{From: Settings{Weights: []float64{1e300, 1e-300}, Explore: 0.5, Temperature: 1e-5}, Sigma: 20, RateMean: 50, RateSigma: 50,
		Reward: func(t Trial) float64 { return t.Settings.Explore + t.Settings.Temperature }}
	for i := range uint64(500) {
		s := m.Next(rand.New(rand.NewPCG(2, i)))
		if err := s.check(Config{Operators: []Operator{Rewrite{}, Cross{}}}); err != nil {
			t.Fatalf("after %d generations: %v", i, err)
		}
		if err := m.Learn(Trial{Settings: s}); err != nil {
			t.Fatal(err)
		}
	}
}

func ExampleMetaGradient() {
	m := &MetaGradient{From: Settings{Weights: []float64{1, 1}}, Batch: 4}
	s := m.Next(rand.New(rand.NewPCG(1, 1)))
	fmt.Println(s.Name)
	// Output: batch 1 around weights 0.5:0.5
}

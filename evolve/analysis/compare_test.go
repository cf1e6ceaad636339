package analysis

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/stream"
)

func TestScoresAreRefused(t *testing.T) {
	good := Scores{{1, 2}, {3}}
	for _, c := range []struct {
		reason string
		x, y   Scores
		b      Bootstrap
		want   string
	}{
		{"no strata", nil, good, Bootstrap{}, "no stratum"},
		{"a stratum without runs", Scores{{1}, {}}, good, Bootstrap{}, "stratum 1 of the first scores has no runs"},
		{"NaN", good, Scores{{1, math.NaN()}, {3}}, Bootstrap{}, "run 1 in stratum 0 of the second scores is NaN"},
		{"another number of strata", good, Scores{{1, 2}}, Bootstrap{}, "2 strata of the first scores and 1"},
		{"pairs of other sizes", good, Scores{{1, 2}, {3, 4}}, Bootstrap{}, "same seeds"},
		{"no such level", good, good, Bootstrap{Level: 1}, "level 1"},
		{"fewer than no samples", good, good, Bootstrap{Samples: -1}, "-1 bootstrap samples"},
		{"draws of another shape", good, good, Bootstrap{draws: [][][]int{{{0, 1}}}},
			"sample 0 of Draws has 1 strata: need 2"},
		{"a draw of a run that is not there", good, good, Bootstrap{draws: [][][]int{{{0, 1}, {1}}}},
			"draws run 1 of stratum 1, which has 1"},
		{"a draw of nothing", good, good, Bootstrap{draws: [][][]int{{{0, 1}, {}}}}, "no runs for stratum 1"},
	} {
		if _, err := c.b.Paired(c.x, c.y); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "analysis: ") {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
}

// Every method refuses wrong scores and wrong draws.
func TestBootstrapRefuses(t *testing.T) {
	good, bad := Scores{{1, 2}}, Scores{{1, math.Inf(1)}}
	for name, f := range map[string]func(b Bootstrap, s Scores) error{
		"Estimate": func(b Bootstrap, s Scores) error {
			_, err := b.Estimate(s, Mean)
			return err
		},
		"Profile":  func(b Bootstrap, s Scores) error { _, err := b.Profile(s, []float64{1}); return err },
		"Unpaired": func(b Bootstrap, s Scores) error { _, err := b.Unpaired(good, s); return err },
	} {
		if err := f(Bootstrap{}, bad); err == nil || !strings.Contains(err.Error(), "+Inf") {
			t.Errorf("%s of +Inf: %v", name, err)
		}
		if err := f(Bootstrap{Level: 2}, good); err == nil || !strings.Contains(err.Error(), "level 2") {
			t.Errorf("%s at level 2: %v", name, err)
		}
	}
}

// A statistic without a value has no interval, and NaN is not trimmed away.
func TestStatisticsWithoutValue(t *testing.T) {
	i, err := Bootstrap{Samples: 10}.Estimate(Scores{{1, 2}}, func(Scores) float64 { return math.NaN() })
	if err != nil || !math.IsNaN(i.Low) || !math.IsNaN(i.High) || i.Contains(0) {
		t.Errorf("%v, %v", i, err)
	}
	if v := IQM(Scores{{math.NaN(), 1, 2, 3}}); !math.IsNaN(v) {
		t.Errorf("IQM with NaN is %v", v)
	}
	for name, stat := range map[string]statistic{"Mean": Mean, "IQM": IQM} {
		if v := stat(nil); !math.IsNaN(v) {
			t.Errorf("%s of nothing is %v", name, v)
		}
	}
}

// Strata of other sizes are fine for methods that are not paired.
func TestUnpairedSizes(t *testing.T) {
	c, err := Bootstrap{Samples: 50}.Unpaired(Scores{{1, 2, 3}, {5}}, Scores{{1}, {2, 4}})
	if err != nil || c.Difference.Value != 3.5-2 || c.Runs != 4 || c.Strata != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// replicates returns a statistic of each sample of a bootstrap, in order.
func replicates(t *testing.T, b Bootstrap, s Scores, stat statistic) (all []float64) {
	t.Helper()
	if _, err := b.Estimate(s, func(s Scores) float64 { all = append(all, stat(s)); return all[len(all)-1] }); err != nil {
		t.Fatal(err)
	}
	return all[1:] // the first is that of s itself
}

func TestBootstrapIsAddressed(t *testing.T) {
	x := Scores{{1, 2, 3, 5, 8}, {2, 3, 1}}
	run := func(seed uint64) []float64 {
		return replicates(t, Bootstrap{Samples: 20, Seed: seed}, x, Mean)
	}
	if !reflect.DeepEqual(run(1), run(1)) {
		t.Error("equal seeds give other samples")
	}
	if reflect.DeepEqual(run(1), run(2)) {
		t.Error("other seeds give equal samples")
	}
	longer := replicates(t, Bootstrap{Samples: 30, Seed: 1}, x, Mean)
	if !reflect.DeepEqual(longer[:20], run(1)) {
		t.Error("the first samples depend on how many there are")
	}
}

// A pair that has a large part in common has a much narrower interval than two samples that do not share it.
func TestPairsCancel(t *testing.T) {
	r := stream.New(1, "pairs", 0)
	x, y := Scores{nil}, Scores{nil}
	for range 40 {
		common := 10 * r.NormFloat64()
		x[0], y[0] = append(x[0], common+1+0.1*r.NormFloat64()), append(y[0], common)
	}
	b := Bootstrap{}
	paired, err := b.Paired(x, y)
	if err != nil {
		t.Fatal(err)
	}
	apart, err := b.Unpaired(x, y)
	if err != nil {
		t.Fatal(err)
	}
	if !paired.Difference.Contains(1) || paired.Difference.Width() > 0.1 || apart.Difference.Width() < 5 {
		t.Errorf("paired %v, unpaired %v", paired.Difference, apart.Difference)
	}
}

func TestRunsFor(t *testing.T) {
	for _, c := range []struct {
		reason    string
		n         int
		now, want float64
		runs      int
	}{
		{"half the width takes four times the runs", 10, 1, 0.5, 40},
		{"a wider one takes no fewer than there are", 10, 1, 3, 10},
		{"rounded up", 10, 1, 0.9, 13},
	} {
		if got, err := RunsFor(c.n, c.now, c.want); err != nil || got != c.runs {
			t.Errorf("%s: %d, %v, want %d", c.reason, got, err, c.runs)
		}
	}
	for _, c := range [][3]float64{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1e-9}} {
		if _, err := RunsFor(int(c[0]), c[1], c[2]); err == nil {
			t.Errorf("RunsFor(%v) has no error", c)
		}
	}
}

// The doc comment's figure: percentile intervals of a mean of ten normal scores cover about 90 %, not 95.
func TestTenRunsCoverLess(t *testing.T) {
	const sets = 1000
	covered := 0
	for i := range uint64(sets) {
		r := stream.New(11, "ten", i)
		x := Scores{make([]float64, 10)}
		for j := range x[0] {
			x[0][j] = r.NormFloat64()
		}
		in, err := Bootstrap{Samples: 300, Seed: i}.Estimate(x, Mean)
		if err != nil {
			t.Fatal(err)
		}
		if in.Contains(0) {
			covered++
		}
	}
	if covered < 870 || covered > 930 { // three standard deviations of 0.9; the seeds are fixed
		t.Errorf("%d of %d intervals cover", covered, sets)
	}
}

package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// cellOf makes a cell of ten runs, T = 100, with each policy's pulls to each level the same in every run.
func cellOf(pulls map[string][]int) Cell {
	c := Cell{Setting: Setting{Family: Named("draws"), Arms: 1, Rounds: 100},
		Levels: []Level{{1, 0.5, false}, {2, 0.7, false}}, Oracle: make([]float64, 10)}
	for name, levels := range pulls {
		e := Entry{Name: name}
		course := Course{{0, 0}}
		for i, n := range levels {
			switch level := c.Levels[i].Score; {
			case n == 0:
				course[0].Score = level
			case n == course[len(course)-1].Pulls:
				course[len(course)-1].Score = level
			case n != NotReached:
				course = append(course, Point{n, level})
			}
		}
		e.Courses = slices.Repeat([]Course{course}, 10)
		c.Entries = append(c.Entries, e)
	}
	return c
}

func TestRatioByHand(t *testing.T) {
	for _, c := range []struct {
		why   string
		pulls map[string][]int
		want  float64
	}{
		{"a half and twice make one", map[string][]int{"a": {20, 80}, "b": {40, 40}}, 1},
		{"the best of two in hindsight, level by level", map[string][]int{"a": {20, 20}, "b": {10, 40}, "c": {15, 20}},
			math.Sqrt2},
		{"not reached by the policy: 2T", map[string][]int{"a": {50, NotReached}, "b": {50, 50}}, 2},
		{"not reached by the other: T", map[string][]int{"a": {20, 25}, "b": {20, NotReached}}, 0.5},
		{"not reached by either: the other level alone", map[string][]int{"a": {25, NotReached}, "b": {50, NotReached}}, 0.5},
	} {
		cell := cellOf(c.pulls)
		others := []string{"b"}
		if len(c.pulls) == 3 {
			others = append(others, "c")
		}
		if got := cell.Ratio("a", others...); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
	trivial := cellOf(map[string][]int{"a": {0, 0}, "b": {0, 0}})
	if got := trivial.Ratio("a", "b"); !math.IsNaN(got) {
		t.Errorf("nothing to reach: %v", got)
	}
	if got := Compare([]Cell{trivial}, "a", "b"); got.Settings != 0 || !math.IsNaN(got.GeoMean.Value) {
		t.Errorf("nothing to compare: %+v", got)
	}
}

func TestCompareByHand(t *testing.T) {
	fast := cellOf(map[string][]int{"a": {10, 10}, "b": {80, 80}})
	slow := cellOf(map[string][]int{"a": {40, 40}, "b": {20, 20}})
	slow.Setting.Rounds = 101
	got := Compare([]Cell{fast, slow}, "a", "b")
	if math.Abs(got.GeoMean.Value-0.5) > 1e-12 || got.Worst != 2 || got.WorstAt.Rounds != 101 || got.Settings != 2 {
		t.Errorf("ratios 1/8 and 2: %+v", got)
	}
	if i := got.GeoMean; math.Abs(i.Low-i.Value) > 1e-12 || math.Abs(i.High-i.Value) > 1e-12 {
		t.Errorf("all runs are the same, the interval is %v", i)
	}
}

// madeUpConfig is of made-up studies: a policy that is faster than most of the others.
var madeUpConfig = StudyConfig{Contenders: []Contender{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}},
	Multiples: []float64{0.5, 1, 2}}

func madeUpSetting(setting int) Setting {
	return Setting{Family: Named("draws"), Arms: 5 + setting, Rounds: 200}
}

// madeUpRuns returns runs that no policy played: scores that rise in jumps, ever more rarely, with a speed of its
// own for each policy. Runs are paired by how good their arms are.
func madeUpRuns(r *rand.Rand, setting, n int) []run {
	speeds := []float64{1.8, 1 + 0.2*float64(setting%2), 1.2 - 0.1*float64(setting%3), 0.9}
	runs := make([]run, n)
	for i := range runs {
		arms := 0.5 + r.Float64()
		robin := madeUpCourse(r, 0.7*arms, 400)
		runs[i] = run{took: make([]float64, 8), oracle: Course{{0, 0}, {1, 10}},
			robin: []float64{robin.After(100), robin.After(200), robin.After(400)}}
		for _, speed := range speeds {
			runs[i].best = append(runs[i].best, madeUpCourse(r, speed*arms, 200))
		}
	}
	return runs
}

func madeUpCourse(r *rand.Rand, speed float64, rounds int) Course {
	c, last := Course{{0, 0}}, 0.0
	for t := 1; t <= rounds; t++ {
		if r.Float64() < 6/float64(t+5) {
			last += speed * r.ExpFloat64() / 10 * (1 - last/10)
			c = append(c, Point{t, last})
		}
	}
	return c
}

// madeUp returns the cells of a made-up study.
func madeUp(r *rand.Rand, settings, runs int) []Cell {
	var cells []Cell
	for setting := range settings {
		cells = append(cells, newCell(madeUpConfig, madeUpSetting(setting), madeUpRuns(r, setting, runs)))
	}
	return cells
}

// kinds are the two kinds of levels to compare by.
var kinds = []struct {
	name    string
	ratio   func(c Cell, name string, others ...string) float64
	compare func(cells []Cell, name string, others ...string) Comparison
	contest func(c Cell, name string, others ...string) *contest
}{
	{"round robin's levels", Cell.Ratio, Compare, func(c Cell, name string, others ...string) *contest {
		return newContest(c, c.ownLevels(), name, others)
	}},
	{"levels at best", Cell.RatioAtBest, CompareAtBest, func(c Cell, name string, others ...string) *contest {
		return newContest(c, c.levelsAtBest(others), name, others)
	}},
}

// A sample of the runs is compared as a study of just these runs would be: with levels of its own.
func TestSampleIsAStudy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for _, n := range []int{1, 2, 9, 10, 11, 40} {
		for setting := range 6 {
			runs := madeUpRuns(r, setting, n)
			cell := newCell(madeUpConfig, madeUpSetting(setting), runs)
			s, drawn := make(sample, n), []run(nil)
			for range n {
				i := r.IntN(n)
				s[i]++
				drawn = append(drawn, runs[i])
			}
			redone := newCell(madeUpConfig, madeUpSetting(setting), drawn)
			for _, kind := range kinds {
				got, want := kind.contest(cell, "a", "b", "c").ratio(s), kind.ratio(redone, "a", "b", "c")
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s, %d runs: the sample's ratio is %v, that of a study of its runs %v", kind.name, n, got, want)
				}
			}
		}
	}
}

// The ratio is that of the pulls that the cell tells.
func TestRatioIsOfPulls(t *testing.T) {
	for _, c := range madeUp(rand.New(rand.NewPCG(2, 4)), 5, 30) {
		var sum, n float64
		for i := range c.Levels {
			own, best := c.Pulls("a", i), min(uint(c.Pulls("b", i)), uint(c.Pulls("c", i))) // NotReached is large
			if own != NotReached && best < 201 {
				sum, n = sum+math.Log(float64(max(own, 1))/float64(max(best, 1))), n+1
			} else if own != NotReached {
				sum, n = sum+math.Log(float64(own)/200), n+1
			} else if best < 201 {
				sum, n = sum+math.Log(400/float64(best)), n+1
			}
		}
		if got := c.Ratio("a", "b", "c"); math.Abs(got-math.Exp(sum/n)) > 1e-12 {
			t.Errorf("ratio %v, by the pulls %v", got, math.Exp(sum/n))
		}
	}
}

// The best of the others reaches the levels that it sets with nine runs in ten, within as many pulls as the multiple
// says, and no other does so for a higher score.
func TestLevelsAtBest(t *testing.T) {
	others := []string{"b", "c", "d"}
	for _, c := range madeUp(rand.New(rand.NewPCG(3, 4)), 5, 30) {
		all := once(len(c.Oracle))
		var levels []Level
		for i, rule := range c.levelsAtBest(others) {
			levels = append(levels, Level{Multiple: c.multiples()[i], Score: rule(all)})
		}
		if len(levels) != 2 || levels[0].Multiple != 0.5 || levels[1].Multiple != 1 {
			t.Fatalf("levels %+v: want them for ½ and 1", levels)
		}
		for _, l := range levels {
			soonest, passed := NotReached, 0
			for _, name := range others {
				var first []int
				above := 0
				for _, course := range c.Entry(name).Courses {
					first = append(first, course.First(l.Score))
					if course.After(int(200*l.Multiple)) > l.Score {
						above++
					}
				}
				if pulls := reliable(first, reliableShare); compareReach(pulls, soonest) < 0 {
					soonest = pulls
				}
				passed = max(passed, above)
			}
			if soonest == NotReached || float64(soonest) > 200*l.Multiple || passed >= 27 {
				t.Errorf("level %+v: reached reliably after %d pulls, passed by %d runs of 30 in time", l, soonest, passed)
			}
		}
		if levels[1].Score <= c.Levels[1].Score {
			t.Errorf("round robin sets %v, the best of three policies that are faster sets %v", c.Levels, levels)
		}
	}
}

// Whatever is compared, however few the runs, an estimate lies within its interval.
func TestEstimatesLieInTheirIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	for range notrun.Length(20, 60) {
		settings, runs := 1+r.IntN(4), 1+r.IntN(25)
		cells := madeUp(r, settings, runs)
		for _, kind := range kinds {
			for _, names := range [][]string{{"a", "b", "c", "d"}, {"d", "a"}, {"b", "c"}} {
				i := kind.compare(cells, names[0], names[1:]...).GeoMean
				if !(i.Low <= i.Value && i.Value <= i.High) {
					t.Errorf("%s, %d settings of %d runs, %s: %v", kind.name, settings, runs, names, i)
				}
				if runs >= 10 && i.Low == i.High {
					t.Errorf("%s, %d settings of %d runs, %s: %v has no width", kind.name, settings, runs, names, i)
				}
			}
		}
	}
}

// Of small studies, the intervals of about 95 % hold the ratio that very many runs give. The standard deviation of the
// share that does is 0.04 at 0.9 of 60 studies; runs as few as these make the bootstrap fall a little short.
func TestComparisonsCover(t *testing.T) {
	const settings, runs = 4, 40
	studies := notrun.Length(20, 60)
	many := madeUp(rand.New(rand.NewPCG(6, 4)), settings, 4000)
	for _, kind := range kinds {
		r, truth := rand.New(rand.NewPCG(7, 4)), meanLog{}
		for _, c := range many {
			truth.add(kind.ratio(c, "a", "b", "c", "d"))
		}
		held := 0
		for range studies {
			held += holds(kind.compare(madeUp(r, settings, runs), "a", "b", "c", "d"), math.Exp(truth.mean()))
		}
		checkShare(t, "made-up runs, "+kind.name, held, studies)
	}
}

// The same with runs that policies played. There the samples lie off to one side and the estimate does not.
func TestComparisonsOfPoliciesCover(t *testing.T) {
	const runs = 25
	studies := notrun.Length(20, 60)
	cfg := StudyConfig{Contenders: twoPolicies, Runs: runs * studies, Seed: 1000}.withDefaults()
	many, few := []Cell(nil), make([][]Cell, studies)
	for _, f := range []Family{Named("staircase"), Named("power-law"), Named("draws")} {
		s := Setting{Family: f, Arms: 6, Rounds: 64}
		all, err := cfg.play(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		many = append(many, newCell(cfg, s, all))
		for i := range few {
			few[i] = append(few[i], newCell(cfg, s, all[i*runs:(i+1)*runs]))
		}
	}
	for _, kind := range kinds {
		var truth meanLog
		for _, c := range many {
			truth.add(kind.ratio(c, "ucb", "even"))
		}
		held := 0
		for _, cells := range few {
			held += holds(kind.compare(cells, "ucb", "even"), math.Exp(truth.mean()))
		}
		checkShare(t, "runs of policies, "+kind.name, held, studies)
	}
}

// holds returns 1 if the interval of c holds the ratio, else 0.
func holds(c Comparison, ratio float64) int {
	if c.GeoMean.Low <= ratio && ratio <= c.GeoMean.High {
		return 1
	}
	return 0
}

func checkShare(t *testing.T, what string, held, of int) {
	t.Helper()
	// 51 of 60: the share less what twenty may be below sixty by, two standard deviations.
	least := 0.85 - 2*(math.Sqrt(0.9*0.1/float64(of))-math.Sqrt(0.9*0.1/60))
	if share := float64(held) / float64(of); share < least {
		t.Errorf("%s: %d of %d intervals hold the ratio", what, held, of)
	}
	t.Logf("%s: %d of %d", what, held, of)
}

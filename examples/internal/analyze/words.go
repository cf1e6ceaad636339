package analyze

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/analysis"
)

// say puts the study's findings and open questions into words.
func (s *study) say() {
	s.sayCells()
	if s.Intervals == nil {
		return
	}
	s.sayProduct()
	s.sayRivals()
	for _, split := range s.Intervals.Splits {
		s.saySplit(split)
		s.sayMissed(split)
	}
}

// sayCells reports problems with cells.
func (s *study) sayCells() {
	floored, above := 0, 0
	for _, c := range s.Cells {
		if c.Floored {
			floored++
		}
		above += c.Above
	}
	if above > 0 {
		s.Open = append(s.Open, fmt.Sprintf("how good these scores are: %s passed the ceiling, so --ceiling or the "+
			"evaluator is wrong", count(above, "score")))
	}
	if floored > 0 {
		s.Open = append(s.Open, fmt.Sprintf("how splits differ near the ceiling: %d of %s are at it, and flatten the surface",
			floored, count(len(s.Cells), "cell")))
	}
	if s.Missed > 0 {
		s.Open = append(s.Open,
			fmt.Sprintf("%s that not every seed reached: means over other seeds would not compare", count(s.Missed, "budget")))
	}
	if len(s.Short) > 0 {
		s.Open = append(s.Open, fmt.Sprintf("%s that not every seed of their breadth reached: means over other seeds would "+
			"not compare", count(len(s.Short), "cell")))
	}
}

// sayShared warns that a bandit's runs with equal T and N are not independent if their searches have equal seeds.
func (s *study) sayShared() {
	seen := map[string]bool{}
	for _, f := range s.files {
		key := fmt.Sprint(f.T, f.N, f.armSeeds) // a longer run may share the searches
		if len(f.armSeeds) > 0 && seen[key] {
			s.Open = append(s.Open, "how much runs differ: some have searches of the same seeds (arm_seeds), so intervals are "+
				"too narrow; give each run an --arm-seed-base of its own")
			return
		}
		seen[key] = true
	}
}

// sayProduct reports the sign of the product's coefficient, or that it is open.
func (s *study) sayProduct() {
	c := s.Intervals.C
	value := "c = " + interval(c)
	switch {
	case c.High < 0:
		s.Found = append(s.Found,
			value+": depth and breadth complement each other, so the best split of a large budget is between the extremes")
	case c.Low > 0:
		s.Found = append(s.Found, value+": depth and breadth stand in for each other, so the best split is at an extreme")
	default:
		s.Open = append(s.Open, value+" spans 0: whether depth and breadth complement each other; "+s.halve(c))
	}
}

// sayRivals reports whether the surface predicts unseen budgets better than simpler models.
func (s *study) sayRivals() {
	if len(s.Rivals) == 0 {
		return
	}
	last := s.Rivals[len(s.Rivals)-1]
	text := fmt.Sprintf("on budgets left out, the surface misses ln(gap) by %s", short(last.HeldOut))
	better := true
	for _, r := range s.Rivals[:len(s.Rivals)-1] {
		text += fmt.Sprintf(", a fit of %s alone by %s", r.Name, short(r.HeldOut))
		better = better && last.HeldOut < r.HeldOut
	}
	if better {
		s.Found = append(s.Found, text)
		return
	}
	s.Open = append(s.Open, "whether the product of depth and breadth is needed: "+text)
}

// Shares of samples with the best split inside, not at N = 1 or T = 1, at which it counts as inside or at an end.
const (
	inside = 0.95
	atEnd  = 0.05
)

// saySplit reports the best split of a budget, or that it is open.
func (s *study) saySplit(split analysis.SplitInterval) {
	name := fmt.Sprintf("for C = %.0f", split.Calls)
	n := fmt.Sprintf("N ≈ %s [%s, %s]", short(split.N.Value), short(split.N.Low), short(split.N.High))
	switch {
	case spans(split):
		s.Open = append(s.Open,
			fmt.Sprintf("%s: the best split; its interval holds every N from 1 to %.0f", name, split.Calls))
	case split.Interior >= inside:
		s.Found = append(s.Found,
			fmt.Sprintf("%s the optimum is %s, T ≈ %s; %s", name, n, short(split.T.Value), s.halve(split.N)))
	case split.Interior <= atEnd:
		s.Found = append(s.Found, fmt.Sprintf("%s an extreme is best: N = %s [%s, %s]", name, short(split.N.Value),
			short(split.N.Low), short(split.N.High)))
	default:
		s.Open = append(s.Open, fmt.Sprintf("%s: whether the best split is inside, which it is in %.0f %% of samples; %s",
			name, 100*split.Interior, n))
	}
}

// sayMissed warns if the best mean of a budget is at a split outside the interval of the fit's optimum: four
// coefficients need not fit everywhere, which the interval does not include.
func (s *study) sayMissed(split analysis.SplitInterval) {
	var best, nearest analysis.Cell
	off := func(c analysis.Cell) float64 { return math.Abs(math.Log(float64(c.N) / split.N.Value)) }
	for _, c := range s.Cells {
		if float64(c.Calls()) != split.Calls {
			continue
		}
		if best.N == 0 || c.Mean > best.Mean {
			best = c
		}
		if nearest.N == 0 || off(c) < off(nearest) {
			nearest = c
		}
	}
	n := float64(best.N)
	if best.N == nearest.N || n >= split.N.Low*(1-rounding) && n <= split.N.High*(1+rounding) {
		return
	}
	s.Open = append(s.Open, fmt.Sprintf("for C = %.0f: whether the surface fits near its optimum; the best mean is at N "+
		"= %d, outside [%s, %s]", split.Calls, best.N, short(split.N.Low), short(split.N.High)))
}

// rounding is the relative error of a split computed from logarithms.
const rounding = 1e-9

// spans reports whether the interval holds every split of the budget, so that a mark on a map would be a guess.
func spans(split analysis.SplitInterval) bool {
	return split.N.Low <= 1+rounding && split.N.High >= split.Calls*(1-rounding)
}

// halve returns how many more seeds would halve an interval, in words.
func (s *study) halve(i analysis.Interval) string {
	n, err := analysis.RunsFor(s.Seeds, i.Width(), i.Width()/2)
	if err != nil { // an interval without a width
		return "its interval has no width"
	}
	return fmt.Sprintf("%d more seeds of each breadth would halve the interval", n-s.Seeds)
}

// interval returns an estimate with its interval: "−0.046 ± 0.011" if both sides are equal, or both ends.
func interval(i analysis.Interval) string {
	up, down := i.High-i.Value, i.Value-i.Low
	if down > 0 && up > 0 && max(up, down) < 1.25*min(up, down) {
		return fmt.Sprintf("%s ± %s", short(i.Value), short((up+down)/2))
	}
	return fmt.Sprintf("%s [%s, %s]", short(i.Value), short(i.Low), short(i.High))
}

// short returns a number with two significant figures, or all before the point.
func short(v float64) string {
	s := strconv.FormatFloat(v, 'g', 2, 64)
	if v >= 10 || v <= -10 {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	if strings.HasPrefix(s, "-") {
		return "−" + s[1:]
	}
	return s
}

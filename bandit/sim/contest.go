package sim

import (
	"cmp"
	"math"
	"slices"
)

// A sample is how often each run is in a sample of the runs.
type sample []uint16

// once returns the sample that has each of n runs once.
func once(n int) sample { return slices.Repeat(sample{1}, n) }

// newSamples returns samples of n of n runs, drawn with replacement, the same ones every time.
func newSamples(n int) []sample {
	samples := make([]sample, resamples)
	plan().Each([]int{n}, func(i int, draw [][]int) {
		samples[i] = make(sample, n)
		for _, run := range draw[0] {
			samples[i][run]++
		}
	})
	return samples
}

// A ranking is a value of each run, the worst first, so that what a share of a sample comes to is found without
// sorting the sample.
type ranking[T any] struct {
	runs   []int32
	values []T
}

// rankScores ranks scores, given by run. The lowest is the worst.
func rankScores(scores []float64) ranking[float64] {
	var r ranking[float64]
	for i := range scores {
		r.runs = append(r.runs, int32(i))
	}
	slices.SortFunc(r.runs, func(a, b int32) int { return cmp.Compare(scores[a], scores[b]) })
	for _, run := range r.runs {
		r.values = append(r.values, scores[run])
	}
	return r
}

// rankPulls ranks the pulls until a level was reached, given by run. The most are the worst, but for NotReached. It
// sorts by counting, as comparisons are timed at hundreds of levels.
func rankPulls(first []int) ranking[int] {
	latest := slices.Max(first)
	place := func(pulls int) int { // of equals in the order from worst to best
		if pulls == NotReached {
			return 0
		}
		return latest - pulls + 1
	}
	next := make([]int, latest+3) // by place: where its next run goes
	for _, pulls := range first {
		next[place(pulls)+1]++
	}
	for i := range latest + 2 {
		next[i+1] += next[i]
	}
	r := ranking[int]{runs: make([]int32, len(first)), values: make([]int, len(first))}
	for run, pulls := range first {
		at := &next[place(pulls)]
		r.runs[*at], r.values[*at] = int32(run), pulls
		*at++
	}
	return r
}

// past returns the worst value in the sample when the given number of the worst are left out.
func (r *ranking[T]) past(s sample, spare int) T {
	for i, run := range r.runs {
		if spare -= int(s[run]); spare < 0 {
			return r.values[i]
		}
	}
	panic("sim: more runs left out than there are")
}

// A racer is a policy's runs, to be timed at one level after the other.
type racer struct {
	courses []Course
	at      map[float64]ranking[int] // the pulls by run to a level. Samples differ in few levels
}

// pulls returns the pulls until all but the given number of the sample's runs have reached the level, or
// NotReached.
func (r *racer) pulls(level float64, s sample, spare int) int {
	at, ok := r.at[level]
	if !ok {
		first := make([]int, len(r.courses))
		for i, c := range r.courses {
			first[i] = c.First(level)
		}
		at = rankPulls(first)
		r.at[level] = at
	}
	return at.past(s, spare)
}

// A levelRule returns the score to reach in a sample of the runs.
type levelRule func(s sample) float64

// ownLevels returns the rules of the cell's Levels: what RoundRobin sets in the sample, or a score that is given.
func (c Cell) ownLevels() []levelRule {
	var rules []levelRule
	for i, l := range c.Levels {
		if i >= len(c.robin) {
			rules = append(rules, func(sample) float64 { return l.Score })
			continue
		}
		robin := rankScores(c.robin[i])
		rules = append(rules, func(s sample) float64 { return robin.past(s, spare(len(s))) })
	}
	return rules
}

// levelsAtBest returns the rules of [Cell.RatioAtBest].
func (c Cell) levelsAtBest(names []string) []levelRule {
	var rules []levelRule
	for _, m := range c.multiples() {
		var policies []ranking[float64]
		for _, name := range names {
			policies = append(policies, rankScores(c.scoresAfter(name, m)))
		}
		rules = append(rules, func(s sample) float64 {
			best := math.Inf(-1)
			for _, p := range policies {
				best = max(best, p.past(s, spare(len(s))))
			}
			return best
		})
	}
	return rules
}

// multiples returns those of the cell's levels that are at most 1.
func (c Cell) multiples() []float64 {
	var all []float64
	for _, l := range c.Levels {
		if l.Multiple > 0 && l.Multiple <= 1 {
			all = append(all, l.Multiple)
		}
	}
	return all
}

// scoresAfter returns the named policy's best scores after m·T pulls, by run.
func (c Cell) scoresAfter(name string, m float64) []float64 {
	var scores []float64
	for _, course := range c.Entry(name).Courses {
		scores = append(scores, course.After(int(math.Round(m*float64(c.Setting.Rounds)))))
	}
	return scores
}

// starts returns the best score of all arms before the first pull, by run.
func (c Cell) starts() []float64 {
	var scores []float64
	for _, course := range c.Entries[0].Courses { // paired runs have the same arms
		scores = append(scores, course[0].Score)
	}
	return scores
}

// spare returns how many of n runs need not reach a score for it to count as reached reliably.
func spare(n int) int { return n - needed(n, reliableShare) }

// A contest is a policy and its rivals in one setting, to be compared in one sample of the runs after the other.
type contest struct {
	rounds int
	levels []levelRule
	starts ranking[float64]
	own    *racer
	others []*racer
}

func newContest(c Cell, levels []levelRule, name string, others []string) *contest {
	racerOf := func(name string) *racer {
		return &racer{courses: c.Entry(name).Courses, at: make(map[float64]ranking[int])}
	}
	t := &contest{rounds: c.Setting.Rounds, levels: levels, starts: rankScores(c.starts()), own: racerOf(name)}
	for _, other := range others {
		t.others = append(t.others, racerOf(other))
	}
	return t
}

// ratio returns what [Cell.Ratio] says, of the runs in the sample.
func (t *contest) ratio(s sample) float64 {
	mean := meanLog{}
	lowest, spare := t.starts.past(s, 0), spare(len(s))
	for _, rule := range t.levels {
		level := rule(s)
		if lowest >= level {
			continue // trivial
		}
		own, best := t.own.pulls(level, s, spare), NotReached
		for _, other := range t.others {
			if pulls := other.pulls(level, s, spare); compareReach(pulls, best) < 0 {
				best = pulls
			}
		}
		if own == NotReached && best == NotReached {
			continue
		}
		mean.add(float64(max(orElse(own, 2*t.rounds), 1)) / float64(max(orElse(best, t.rounds), 1)))
	}
	return math.Exp(mean.mean()) // NaN if no level is left
}

func orElse(pulls, penalty int) int {
	if pulls == NotReached {
		return penalty
	}
	return pulls
}

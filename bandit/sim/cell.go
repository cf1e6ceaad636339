package sim

import (
	"math"
	"slices"
)

// A Cell is what a [Study] found in one setting. Lists by run are in the order of seeds.
type Cell struct {
	Setting Setting   // what was played over
	Levels  []Level   // the scores to reach: those of StudyConfig.Multiples, then those of Scores
	Oracle  []float64 // by run: the best score that T pulls can reach
	Entries []Entry   // by policy
}

// A Level is a score to reach.
type Level struct {
	// Multiple says how hard the level is: dealing out the pulls in turn takes this many times T to reach it
	// with nine runs in ten. It is 0 for a level that is one of StudyConfig.Scores.
	Multiple float64
	Score    float64 // what a run has to reach
	// Trivial reports whether the best arm of every run starts at the score or above. Reaching it then
	// shows nothing.
	Trivial bool
}

// An Entry is how one policy did in a setting.
type Entry struct {
	Name  string    // the Contender's
	Final []float64 // by run: the best score of all arms at the end
	First [][]int   // by level, by run: the pulls until it was reached, or NotReached
	// Regret is, by run, how far the best score is from the [Oracle]'s at the end. MeanRegret is the same on
	// average over t = 1..T.
	Regret, MeanRegret []float64
	// Low, Median and High are the 10, 50 and 90 % quantiles over runs of the best score after t = 0..T
	// pulls. RegretAt is the mean regret then.
	Low, Median, High, RegretAt []float64
}

func newCell(cfg StudyConfig, s Setting, runs []run) Cell {
	c := Cell{Setting: s, Levels: newLevels(cfg, s, runs)}
	for _, r := range runs {
		c.Oracle = append(c.Oracle, r.oracle[s.Rounds])
	}
	for p, contender := range cfg.Contenders {
		c.Entries = append(c.Entries, newEntry(contender.Name, c.Levels, runs, p))
	}
	return c
}

// newLevels returns the scores to reach. They depend on the arms and not on the policies, so that the levels
// stay the same whatever is compared.
func newLevels(cfg StudyConfig, s Setting, runs []run) []Level {
	var levels []Level
	for i, m := range cfg.Multiples {
		var robin []float64
		for _, r := range runs {
			robin = append(robin, r.robin[i])
		}
		levels = append(levels, Level{Multiple: float64(cfg.after(m, s)) / float64(s.Rounds), Score: reliableLevel(robin, Share)})
	}
	for _, score := range cfg.Scores {
		levels = append(levels, Level{Score: score})
	}
	for i := range levels {
		levels[i].Trivial = !slices.ContainsFunc(runs, func(r run) bool { return r.oracle[0] < levels[i].Score })
	}
	return levels
}

func newEntry(name string, levels []Level, runs []run, policy int) Entry {
	e := Entry{Name: name, First: make([][]int, len(levels))}
	for _, r := range runs {
		best := r.best[policy]
		last := len(best) - 1
		e.Final = append(e.Final, best[last])
		for i, l := range levels {
			e.First[i] = append(e.First[i], FirstAt(best, l.Score))
		}
		e.Regret = append(e.Regret, r.oracle[last]-best[last])
		e.MeanRegret = append(e.MeanRegret, meanGap(r.oracle, best))
	}
	for t := range runs[0].oracle {
		e.addTime(t, runs, policy)
	}
	return e
}

// meanGap returns the mean of oracle − best over t = 1, 2, ...
func meanGap(oracle, best []float64) float64 {
	var sum float64
	for t := 1; t < len(best); t++ {
		sum += oracle[t] - best[t]
	}
	return sum / float64(len(best)-1)
}

// addTime appends the quantiles of the runs' best scores after t pulls, and the mean regret.
func (e *Entry) addTime(t int, runs []run, policy int) {
	scores := make([]float64, len(runs))
	var regret float64
	for i, r := range runs {
		scores[i] = r.best[policy][t]
		regret += r.oracle[t] - scores[i]
	}
	slices.Sort(scores)
	e.Low = append(e.Low, quantile(scores, 0.1))
	e.Median = append(e.Median, quantile(scores, 0.5))
	e.High = append(e.High, quantile(scores, 0.9))
	e.RegretAt = append(e.RegretAt, regret/float64(len(runs)))
}

// Entry returns the named policy's entry, or nil if there is none.
func (c Cell) Entry(name string) *Entry {
	for i := range c.Entries {
		if c.Entries[i].Name == name {
			return &c.Entries[i]
		}
	}
	return nil
}

// Pulls returns the pulls until nine of ten runs of the named policy have reached level i, or [NotReached].
// It panics if the cell has no such policy or level.
func (c Cell) Pulls(name string, level int) int { return Reliable(c.Entry(name).First[level], Share) }

// Ratio compares how soon the named policy and the best of the others, at each level, reach the levels
// reliably. It is the geometric mean over levels of the ratio of their pulls, below 1 if the policy is
// faster. Levels that are trivial or that none of them reaches are left out. A level that one side alone
// reaches counts against the policy: as 2T pulls if the policy does not reach it, as T if the others do not.
// It is NaN if no level is left.
func (c Cell) Ratio(name string, others ...string) float64 {
	return c.ratio(name, others, func(first []int) int { return Reliable(first, Share) })
}

// ratio is Ratio with another rule for what becomes of the pulls by run.
func (c Cell) ratio(name string, others []string, reliable func(first []int) int) float64 {
	var sum float64
	n, rounds := 0, c.Setting.Rounds
	for i, l := range c.Levels {
		own, best := reliable(c.Entry(name).First[i]), NotReached
		for _, other := range others {
			if pulls := reliable(c.Entry(other).First[i]); compareReach(pulls, best) < 0 {
				best = pulls
			}
		}
		if l.Trivial || own == NotReached && best == NotReached {
			continue
		}
		sum += math.Log(float64(max(orElse(own, 2*rounds), 1)) / float64(max(orElse(best, rounds), 1)))
		n++
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(n))
}

func orElse(pulls, penalty int) int {
	if pulls == NotReached {
		return penalty
	}
	return pulls
}

// A Comparison is [Cell.Ratio] over many settings.
type Comparison struct {
	// GeoMean is the geometric mean over the settings, with a bootstrap interval of 200 samples of the runs
	// in each setting. With few runs, of which nine in ten only just reach a level, samples often do not, and
	// the interval may lie beside the estimate. Play a hundred runs or more.
	GeoMean Interval
	// Worst is the largest ratio, and WorstAt the setting where it is.
	Worst   float64
	WorstAt Setting
	// Settings is the number of settings compared: those where a level is left to compare by.
	Settings int
}

// Compare compares the named policy with the best of the others, in hindsight at each level of each
// setting. With one other it compares the two. Everything is NaN or 0 if there is nothing to compare.
func Compare(cells []Cell, name string, others ...string) Comparison {
	c := Comparison{GeoMean: Interval{math.NaN(), math.NaN(), math.NaN()}}
	var logs []float64
	samples := make([]float64, 200)
	for _, cell := range cells {
		ratio := cell.Ratio(name, others...)
		if math.IsNaN(ratio) {
			continue
		}
		logs = append(logs, math.Log(ratio))
		if ratio > c.Worst {
			c.Worst, c.WorstAt = ratio, cell.Setting
		}
		cell.resampled(samples, name, others)
	}
	if c.Settings = len(logs); c.Settings == 0 {
		return c
	}
	n := float64(len(logs))
	var sum float64
	for _, l := range logs {
		sum += l
	}
	for i := range samples {
		samples[i] = math.Exp(samples[i] / n)
	}
	c.GeoMean.Value = math.Exp(sum / n)
	c.GeoMean.Low, c.GeoMean.High = percentiles(samples)
	return c
}

// resampled adds to each of sums the logarithm of the ratio in a sample of the runs. A sample has the same
// runs for every policy, as they are paired.
func (c Cell) resampled(sums []float64, name string, others []string) {
	draws, runs := newResampler(), make([]int, 0, len(c.Oracle))
	sample := make([]int, len(c.Oracle))
	for i := range sums {
		runs = runs[:0]
		draws.draw(len(c.Oracle), func(j int) { runs = append(runs, j) })
		ratio := c.ratio(name, others, func(first []int) int {
			for k, run := range runs {
				sample[k] = first[run]
			}
			return Reliable(sample, Share)
		})
		if !math.IsNaN(ratio) { // NaN if no level is reached in the sample: neither is faster in it
			sums[i] += math.Log(ratio)
		}
	}
}

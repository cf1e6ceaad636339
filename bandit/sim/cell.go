package sim

import (
	"slices"

	"github.com/evoalloc/evoalloc/internal/bootstrap"
)

// A Cell is what a [Study] found in one setting. Lists by run are in the order of seeds.
type Cell struct {
	Setting Setting   // what was played over
	Levels  []Level   // the scores to reach: those of StudyConfig.Multiples, then those of Scores
	Oracle  []float64 // by run: the best score that T pulls can reach
	Entries []Entry   // by policy
	// robin is, by level that has a Multiple, by run, the score that [RoundRobin] has reached after that many
	// times T pulls. The level is what nine in ten of them come to.
	robin [][]float64
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
	// Courses is, by run, how the best score of all arms rose.
	Courses []Course
	// Regret is, by run, how far the best score is from the [Oracle]'s at the end. MeanRegret is the same on
	// average over t = 1..T.
	Regret, MeanRegret []float64
	Seconds            []float64 // by run, how long it took as its Contender's Play says; 0 without that
	// Low, Median and High are the 10, 50 and 90 % quantiles over runs of the best score after t = 0..T
	// pulls. RegretAt is the mean regret then.
	Low, Median, High, RegretAt []float64
}

func newCell(cfg StudyConfig, s Setting, runs []run) Cell {
	c := Cell{Setting: s}
	for _, r := range runs {
		c.Oracle = append(c.Oracle, r.oracle.last())
	}
	for i := range cfg.Multiples {
		robin := make([]float64, len(runs))
		for j, r := range runs {
			robin[j] = r.robin[i]
		}
		c.robin = append(c.robin, robin)
	}
	c.Levels = newLevels(cfg, s, runs, c.robin)
	for p, contender := range cfg.Contenders {
		c.Entries = append(c.Entries, newEntry(contender.Name, c, runs, p))
	}
	return c
}

// newLevels returns the scores to reach. They depend on the arms and not on the policies, so that the levels
// stay the same whatever is compared.
func newLevels(cfg StudyConfig, s Setting, runs []run, robin [][]float64) []Level {
	var levels []Level
	for i, m := range cfg.Multiples {
		levels = append(levels, Level{Multiple: float64(cfg.after(m, s)) / float64(s.Rounds),
			Score: reliableLevel(robin[i], reliableShare)})
	}
	for _, score := range cfg.Scores {
		levels = append(levels, Level{Score: score})
	}
	for i := range levels {
		levels[i].Trivial = !slices.ContainsFunc(runs, func(r run) bool { return r.oracle[0].Score < levels[i].Score })
	}
	return levels
}

func newEntry(name string, c Cell, runs []run, policy int) Entry {
	e := Entry{Name: name, First: make([][]int, len(c.Levels))}
	for _, r := range runs {
		best := r.best[policy]
		e.Courses = append(e.Courses, best)
		e.Final = append(e.Final, best.last())
		for i, l := range c.Levels {
			e.First[i] = append(e.First[i], best.First(l.Score))
		}
		e.Seconds = append(e.Seconds, r.took[policy])
		e.Regret = append(e.Regret, r.oracle.last()-best.last())
		e.MeanRegret = append(e.MeanRegret, r.oracle.mean(c.Setting.Rounds)-best.mean(c.Setting.Rounds))
	}
	e.addTimes(c.Setting.Rounds, runs, policy)
	return e
}

// addTimes works out the quantiles of the runs' best scores, and the mean regret, after 0, 1, ..., rounds pulls.
func (e *Entry) addTimes(rounds int, runs []run, policy int) {
	best, oracle := make([]cursor, len(runs)), make([]cursor, len(runs))
	for i, r := range runs {
		best[i].course, oracle[i].course = r.best[policy], r.oracle
	}
	scores := make([]float64, len(runs))
	for t := range rounds + 1 {
		var regret float64
		for i := range scores {
			scores[i] = best[i].after(t)
			regret += oracle[i].after(t) - scores[i]
		}
		slices.Sort(scores)
		e.Low = append(e.Low, bootstrap.Quantile(scores, 0.1))
		e.Median = append(e.Median, bootstrap.Quantile(scores, 0.5))
		e.High = append(e.High, bootstrap.Quantile(scores, 0.9))
		e.RegretAt = append(e.RegretAt, regret/float64(len(runs)))
	}
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
func (c Cell) Pulls(name string, level int) int {
	return reliable(c.Entry(name).First[level], reliableShare)
}

package analysis

import (
	"fmt"
	"math"
	"slices"
)

// Scores are numbers of runs, by stratum and then by run: Scores[s][i] is that of run i in stratum s. A stratum is a
// task, a family or a setting. A bootstrap draws runs within each stratum, so its intervals hold for further runs of
// the same strata. Strata may differ in size.
type Scores [][]float64

// runs returns how many runs there are in all strata.
func (s Scores) runs() int {
	n := 0
	for _, stratum := range s {
		n += len(stratum)
	}
	return n
}

// minus returns s − t, run by run. Both have the same shape.
func (s Scores) minus(t Scores) Scores {
	d := make(Scores, len(s))
	for i, stratum := range s {
		d[i] = make([]float64, len(stratum))
		for j, v := range stratum {
			d[i][j] = v - t[i][j]
		}
	}
	return d
}

// sizes returns how many runs each stratum has.
func (s Scores) sizes() []int {
	n := make([]int, len(s))
	for i, stratum := range s {
		n[i] = len(stratum)
	}
	return n
}

// validate returns an error that names what s lacks. what names the scores.
func (s Scores) validate(what string) error {
	if len(s) == 0 {
		return fmt.Errorf("analysis: %s have no stratum: need at least one", what)
	}
	for i, stratum := range s {
		if len(stratum) == 0 {
			return fmt.Errorf("analysis: stratum %d of %s has no runs: leave it out, or run it", i, what)
		}
		for j, v := range stratum {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("analysis: run %d in stratum %d of %s is %v: need a finite number", j, i, what, v)
			}
		}
	}
	return nil
}

// validatePair returns an error unless x and y have the same strata, with paired also the same runs.
func validatePair(x, y Scores, paired bool) error {
	if err := x.validate("the first scores"); err != nil {
		return err
	}
	if err := y.validate("the second scores"); err != nil {
		return err
	}
	if len(x) != len(y) {
		return fmt.Errorf("analysis: %d strata of the first scores and %d of the second: need the same ones", len(x), len(y))
	}
	if paired && !slices.Equal(x.sizes(), y.sizes()) {
		return fmt.Errorf("analysis: strata of %v runs of the first scores and of %v of the second: pairs need the same "+
			"seeds on both sides", x.sizes(), y.sizes())
	}
	return nil
}

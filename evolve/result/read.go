package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// errEmpty says that a file has nothing in it.
var errEmpty = errors.New("the result is empty")

// Read reads a result file of this library in any version, or of the BaSE paper's code. The file of one search is read
// as that of a bandit with one arm, which is Alone. Fields that a file lacks, or has in another type, are zero. Errors
// have no prefix, as they are said of a file that the caller names.
func Read(from io.Reader) (*Bandit, error) {
	data, err := io.ReadAll(from)
	switch {
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errEmpty
	}
	var f *Bandit
	if bytes.Contains(data, []byte(`"arm_results"`)) { // in no string: there the quotes are escaped
		f = &Bandit{}
		err = json.Unmarshal(data, f)
	} else {
		var g Greedy
		err = json.Unmarshal(data, &g)
		f = g.bandit()
	}
	if err := mismatched(err); err != nil {
		return nil, fmt.Errorf("not a result: %w", err)
	}
	return f, nil
}

// mismatched returns err, but nil if it only says that a field has another type.
func mismatched(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return nil
	}
	return err
}

// bandit returns g as a Bandit.
func (g *Greedy) bandit() *Bandit {
	return &Bandit{Alone: true, Task: g.Task, Model: g.Model, ModelName: g.ModelName, Active: g.FLOPs.Active, Algo: g.Kind,
		C: g.C, T: g.T, N: g.N, Breadth: g.Breadth, Ties: g.Ties, Arms: 1, Selections: make([]int, max(0, len(g.Trajectory)-1)),
		PerRound: g.PerGen, FLOPs: g.FLOPs, FinalFitness: g.FinalFitness,
		ArmResults: []Arm{{Setting: g.Setting, Search: g.Search}}, Totals: g.Totals, Counts: g.Counts, Outcome: g.Outcome}
}

// A Seed is that of a bandit. Those of the paper's code may be negative; they are read as the unsigned number of the same
// bits.
type Seed uint64

// UnmarshalJSON reads a whole number.
func (s *Seed) UnmarshalJSON(data []byte) error {
	if signed, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		*s = Seed(signed)
		return nil
	}
	seed, err := strconv.ParseUint(string(data), 10, 64)
	if *s = Seed(seed); err != nil && string(data) != "null" {
		return fmt.Errorf("bandit_seed %s: need a whole number", data)
	}
	return nil
}

// Answered reports whether a model answered. Without a status a program tells that one did.
func (c *Child) Answered() bool {
	if c.FinalStatus == nil {
		return c.Fitness != nil
	}
	return *c.FinalStatus == "ok"
}

// Before returns how many calls brought an answer before the first generation, of row 0.
func (g *Generation) Before() (n int) {
	for _, c := range g.Asides {
		if c.FinalStatus != nil && *c.FinalStatus == "ok" {
			n++
		}
	}
	return n
}

// Answered returns how many calls of a generation brought an answer, of a row after row 0. Where a file has no rows of
// children, their number counts, or the n that a generation is to have.
func (g *Generation) Answered(n int) int {
	sum := g.Before()
	switch {
	case g.Children == nil && g.Count != nil:
		return sum + *g.Count
	case g.Children == nil:
		return sum + n
	}
	for i := range g.Children {
		if g.Children[i].Answered() {
			sum++
		}
	}
	return sum
}

// Rounds yields the generation of each round in order, with the arm that made it: nil for one that the file does not
// have.
func (b *Bandit) Rounds(yield func(arm int, row *Generation) bool) {
	made := make([]int, len(b.ArmResults))
	for _, arm := range b.Selections {
		var row *Generation
		if arm >= 0 && arm < len(made) {
			if made[arm]++; made[arm] < len(b.ArmResults[arm].Trajectory) {
				row = &b.ArmResults[arm].Trajectory[made[arm]]
			}
		}
		if !yield(arm, row) {
			return
		}
	}
}

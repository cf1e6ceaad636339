package report

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
)

// A childRow is an [evolve.Child] under the paper's names. It has the hash of its program and not the text, because a
// result does not keep the programs of all children.
type childRow struct {
	Index int `json:"idx"`
	ID    int `json:"id,omitempty"` // its order of birth in its arm, from 1
	// their IDs, the one it was made from first; 0 is the initial program
	Parents     []int        `json:"parents,omitempty"`
	Operator    string       `json:"operator,omitempty"`
	Program     string       `json:"program,omitempty"` // its hash, by which a journal has the text
	Seed        uint32       `json:"seed"`
	Fitness     *float64     `json:"fitness"`              // null without a program, 0 for an invalid one
	SD          float64      `json:"fitness_sd,omitempty"` // of the samples that Fitness is the mean of
	N           int          `json:"fitness_n,omitempty"`  // how many they are; 0 for one
	Valid       bool         `json:"valid"`
	Reason      string       `json:"reason,omitempty"` // why the child has no program or no score
	Mended      string       `json:"mended,omitempty"` // what its reply left out and the task put back
	Attempts    []attemptRow `json:"attempts"`
	FinalStatus string       `json:"final_status"`        // the last attempt's; "" without attempts
	Duplicate   bool         `json:"duplicate,omitempty"` // an earlier child, or the initial program, is the same
	// Proposal has what else journals and exports tell of a child. Where the fields above say it under the paper's names
	// it is zero, and so are Labels, which the ledgers sum.
	books.Proposal
}

func newChild(c evolve.Child) childRow {
	row := childRow{Index: c.Index, ID: c.ID, Parents: c.Parents, Operator: c.Operator, Program: c.Hash, Seed: c.Seed,
		Valid: c.Result.Valid, Reason: c.Err, Mended: c.Mended, Duplicate: c.Duplicate,
		Attempts: make([]attemptRow, len(c.Attempts)), Proposal: c.Proposal()}
	p := &row.Proposal
	p.Score, p.SD, p.Samples, p.State, p.Labels = 0, 0, 0, "", nil
	if c.Scored() {
		row.Fitness, row.Reason = &c.Result.Score, c.Result.Reason
		row.SD, row.N = samplesOf(c.Result)
	}
	for i, a := range c.Attempts {
		row.Attempts[i] = newAttempt(i, a)
		row.FinalStatus = row.Attempts[i].Status
	}
	return row
}

// childRows are the rows of a generation's children, in order of index. The rows of a result are made one at a
// time, as they are asked for. Nearly all of a file is children: with all rows and their JSON in memory, saving
// 200,000 children took 1 GB beside the result. The zero value holds none.
type childRows struct {
	of   []evolve.Child // of a result
	read []childRow     // of a file
}

// Len returns how many there are.
func (c childRows) Len() int { return len(c.of) + len(c.read) }

// All returns the rows.
func (c childRows) All() iter.Seq[childRow] {
	return func(yield func(childRow) bool) {
		for _, child := range c.of {
			if !yield(newChild(child)) {
				return
			}
		}
		for _, row := range c.read {
			if !yield(row) {
				return
			}
		}
	}
}

// MarshalJSON returns the rows as a JSON array. It holds all of them at once; [Save] does not.
func (c childRows) MarshalJSON() ([]byte, error) {
	rows := make([]childRow, 0, c.Len())
	for row := range c.All() {
		rows = append(rows, row)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the encoder that calls this escapes its output itself, unless told not to
	err := e.Encode(rows)
	return b.Bytes(), err
}

// UnmarshalJSON reads a JSON array of rows.
func (c *childRows) UnmarshalJSON(data []byte) error {
	c.of, c.read = nil, nil
	return json.Unmarshal(data, &c.read)
}

package text

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// A Case is one question for the target.
type Case struct {
	ID    string `json:"id"` // tells it from others; at most 100 bytes
	Input string `json:"input"`
	Want  string `json:"want,omitempty"` // what the reply should be, if the scoring needs it
}

// Sets are cases by use.
type Sets struct{ Train, Validation, HeldOut []Case }

// Divide divides cases evenly over the three sets. The division depends only on the cases' IDs, not on their order. An
// additional case moves others to another set, so state the sets in a file that grows. Fewer than three cases leave a
// set empty, which [New] refuses.
func Divide(cases []Case) Sets {
	place := func(c Case) uint64 {
		a, _ := stream.Seed(0, "text divide "+c.ID, 0)
		return a
	}
	cases = slices.Clone(cases)
	slices.SortStableFunc(cases,
		func(a, b Case) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.ID, b.ID)) })
	var s Sets
	for i, c := range cases {
		to := [...]*[]Case{&s.Train, &s.Validation, &s.HeldOut}[i%3]
		*to = append(*to, c)
	}
	return s
}

// maxLine bounds a line of a file of cases, in bytes.
const maxLine = 16 << 20

// ReadCases reads JSON Lines, each an object with "input", and, where there are any, "id", "want" and "set": "train",
// "validation" or "held_out". Cases without a set are divided as [Divide] does. One without an id is "line N". A want
// that is a number, a list or an object is kept as JSON. Other members are ignored, and so are blank lines.
func ReadCases(r io.Reader) (Sets, error) {
	var s Sets
	var undecided []Case
	sets := map[string]*[]Case{"train": &s.Train, "validation": &s.Validation, "held_out": &s.HeldOut, "": &undecided}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		c, set, err := readCase(line)
		to, known := sets[set]
		switch {
		case err != nil:
			return Sets{}, fmt.Errorf("text: line %d: %w", n, err)
		case !known:
			return Sets{}, fmt.Errorf("text: line %d: the set is %.40q: need train, validation, held_out, or none", n, set)
		}
		c.ID = cmp.Or(c.ID, fmt.Sprintf("line %d", n))
		*to = append(*to, c)
	}
	if err := lines.Err(); err != nil {
		return Sets{}, fmt.Errorf("text: reading cases: %w", err)
	}
	more := Divide(undecided)
	s.Train, s.Validation, s.HeldOut = append(s.Train, more.Train...), append(s.Validation, more.Validation...),
		append(s.HeldOut, more.HeldOut...)
	return s, nil
}

// readCase reads one line.
func readCase(line []byte) (c Case, set string, err error) {
	var row struct {
		ID    string          `json:"id"`
		Input *string         `json:"input"`
		Want  json.RawMessage `json:"want"`
		Set   string          `json:"set"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return c, "", fmt.Errorf("need a case in JSON: %w", err)
	}
	if row.Input == nil {
		return c, "", errors.New(`the case has no "input"`)
	}
	c = Case{ID: row.ID, Input: *row.Input}
	if json.Unmarshal(row.Want, &c.Want) != nil { // a number, a list or an object stays JSON
		c.Want = string(row.Want)
	}
	return c, row.Set, nil
}

// checkSets refuses sets that are empty or too large, IDs that are missing, too long or duplicate, and inputs in two
// sets: a score on training cases would be no evidence for others.
func checkSets(train, validation, heldOut []Case) error {
	ids, inputs := map[string]string{}, map[string]string{}
	for _, s := range []struct {
		name  string
		cases []Case
	}{{"Train", train}, {"Validation", validation}, {"HeldOut", heldOut}} {
		if len(s.cases) == 0 || len(s.cases) > eval.MaxCases {
			return fmt.Errorf("%s has %d cases: need at least 1 and at most %d (Divide deals cases out)",
				"Config."+s.name, len(s.cases), eval.MaxCases)
		}
		for i, c := range s.cases {
			where := fmt.Sprintf("Config.%s[%d]", s.name, i)
			if c.ID == "" || len(c.ID) > 100 || strings.ContainsAny(c.ID, "\r\n\x00") {
				return fmt.Errorf("%s.ID is %.120q: need one line of 1 to 100 bytes", where, c.ID)
			}
			if first, taken := ids[c.ID]; taken {
				return fmt.Errorf("%s and %s have the same ID %q", first, where, c.ID)
			}
			if first, known := inputs[c.Input]; known && !strings.HasPrefix(first, "Config."+s.name+"[") {
				return fmt.Errorf("%s and %s have the same input %.80q: the sets have to be apart", first, where, c.Input)
			}
			ids[c.ID], inputs[c.Input] = where, where
		}
	}
	return nil
}

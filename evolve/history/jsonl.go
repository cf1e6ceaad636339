package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"

	"github.com/evoalloc/evoalloc/evolve/books"
)

// A row is a candidate as a line of JSON. docs/reference.md describes the fields.
type row struct {
	Name     string            `json:"name"`
	Arm      *int              `json:"arm"`
	Pull     *int              `json:"pull"`
	Step     int               `json:"step"`
	Index    int               `json:"index"`
	ID       int               `json:"id"`
	Parents  []string          `json:"parents"`
	Unknown  []int             `json:"unknown_parents,omitempty"`
	Operator string            `json:"operator"`
	Labels   map[string]string `json:"labels,omitempty"`
	State    books.State       `json:"state,omitempty"`
	Valid    bool              `json:"valid"`
	Score    *float64          `json:"score"`
	SD       float64           `json:"sd,omitempty"`
	Samples  int               `json:"samples,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Time     string            `json:"time"`
	Line     bool              `json:"line"`
	Best     bool              `json:"best"`
	Key      string            `json:"key,omitempty"`
	Program  *string           `json:"program"`
	// what a run tells of a child beside the fields above, which stand before those of the same name
	books.Proposal
}

// clock is RFC 3339 with milliseconds, as many as a journal has.
const clock = "2006-01-02T15:04:05.000Z07:00"

// WriteJSONL writes a line of JSON for each candidate, in order, also for children without a program. All is printable
// ASCII, so that no terminal obeys what a candidate wrote.
func (l *Lineage) WriteJSONL(w io.Writer) error {
	best := l.Best()
	line := l.Line(best)
	out := bufio.NewWriter(w)
	for i := range l.Candidates {
		c := &l.Candidates[i]
		row := row{
			Name: c.Name(), Step: c.Step, Index: c.Index, ID: c.ID, Parents: make([]string, len(c.Parents)), Unknown: c.Unknown,
			Operator: c.Operator, Labels: c.Labels, State: c.State, Valid: c.Valid, Reason: c.Reason,
			Time: c.Time.Format(clock), Line: slices.Contains(line, i), Best: i == best, Key: c.Key, Proposal: c.Proposal,
		}
		for i, p := range c.Parents {
			row.Parents[i] = l.Candidates[p].Name()
		}
		if c.Arm >= 0 {
			row.Arm = &c.Arm
		}
		if c.Pull >= 0 {
			row.Pull = &c.Pull
		}
		if c.Valid {
			row.Score, row.SD, row.Samples = &c.Score, c.SD, c.Samples
		}
		if c.Program != "" {
			row.Program = &c.Program
		}
		text, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("history: %s: %w", row.Name, err)
		}
		out.Write(inASCII(text))
	}
	return out.Flush()
}

// inASCII returns a line of JSON with every character outside printable ASCII as its escape.
func inASCII(text []byte) []byte {
	out := make([]byte, 0, len(text)+1)
	for _, r := range string(text) {
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return append(out, '\n')
}

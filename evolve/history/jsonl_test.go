package history_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve/history"
)

// A jsonRow is a line as a reader sees it who has only the docs.
type jsonRow struct {
	Name           string
	Arm, Pull      *int
	Step, Index    int
	ID             int
	Parents        []string
	UnknownParents []int `json:"unknown_parents"`
	Operator       string
	Proposer       string
	Propensity     float64
	Credit         *float64
	Labels         map[string]string
	State          string
	Valid          bool
	Score          *float64
	Reason         string
	Time           string
	Line, Best     bool
	Key            string
	Program        *string
}

func jsonRows(t *testing.T, r *history.Lineage) []jsonRow {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteJSONL(&b); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }); i >= 0 {
		t.Errorf("byte %d is %q, want printable ASCII", i, b.String()[i:i+1])
	}
	var rows []jsonRow
	for l := range strings.Lines(b.String()) {
		d := json.NewDecoder(strings.NewReader(l))
		d.DisallowUnknownFields()
		var row jsonRow
		if err := d.Decode(&row); err != nil {
			t.Fatalf("%.200s: %v", l, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestJSONLIsTheRun(t *testing.T) {
	for reason, r := range map[string]*history.Lineage{
		"several arms":                 one(t, recorded(t, greedy(t, adder))),
		"children of several parents":  one(t, recorded(t, crossing(t, adder))),
		"invalid and without programs": family(),
		"hostile text":                 hostile(),
		"nothing":                      {},
	} {
		rows := jsonRows(t, r)
		if len(rows) != len(r.Candidates) {
			t.Fatalf("%s: %d lines, want %d", reason, len(rows), len(r.Candidates))
		}
		var line []string
		for i, row := range rows {
			c := r.Candidates[i]
			if got, want := row.String(), asRow(r, c); got != want {
				t.Errorf("%s: line %d is\n%.300s, want\n%.300s", reason, i, got, want)
			}
			if row.Line {
				line = append(line, row.Name)
			}
			if row.Best != (i == r.Best()) {
				t.Errorf("%s: %s is the best: %v", reason, row.Name, row.Best)
			}
		}
		if got, want := strings.Join(line, " "), names(r, r.Line(r.Best())); got != want {
			t.Errorf("%s: the line is %s, want %s", reason, got, want)
		}
	}
}

func (r jsonRow) String() string {
	arm, pull, score, program := -1, -1, "-", "-"
	if r.Arm != nil {
		arm = *r.Arm
	}
	if r.Pull != nil {
		pull = *r.Pull
	}
	if r.Score != nil {
		score = fmt.Sprint(*r.Score)
	}
	if r.Program != nil {
		program = fmt.Sprintf("%q", *r.Program)
	}
	when, _ := time.Parse(time.RFC3339, r.Time) // the zero time if it is not one
	return fmt.Sprint(r.Name, arm, pull, r.Step, r.Index, r.ID, strings.Join(r.Parents, " "), r.UnknownParents, r.Labels,
		r.State, r.Valid, score, when.UnixMilli(), r.Key, r.Reason, len(r.Operator), program)
}

// asRow is a candidate as its line is to read. What is not UTF-8 cannot stand in JSON.
func asRow(r *history.Lineage, c history.Candidate) string {
	score, program := "-", "-"
	if c.Valid {
		score = fmt.Sprint(c.Score)
	}
	if c.Program != "" {
		program = fmt.Sprintf("%q", string([]rune(c.Program)))
	}
	when, _ := time.Parse(time.RFC3339, c.Time.Format(time.RFC3339Nano))
	return fmt.Sprint(c.Name(), c.Arm, c.Pull, c.Step, c.Index, c.ID, names(r, c.Parents), c.Unknown, c.Labels, c.State,
		c.Valid, score, when.UnixMilli(), c.Key, c.Reason, len(string([]rune(c.Operator))), program)
}

// A score that is the mean of samples shows how many and how they spread.
func TestSamplesAreShown(t *testing.T) {
	c := child(0, 0, 1, "2", 0.75, 0)
	c.SD, c.Samples = 0.125, 4
	r := one(t, write(t, 1, program("1"), start(0, "1", 0.5), draw(0, 0), program("2"), c, program("3"),
		child(0, 1, 2, "3", 0.25, 0)))
	var rows bytes.Buffer
	if err := r.WriteJSONL(&rows); err != nil {
		t.Fatal(err)
	}
	if got := rows.String(); strings.Count(got, `"score":0.75,"sd":0.125,"samples":4,`) != 1 ||
		strings.Count(got, "samples") != 1 {
		t.Errorf("rows:\n%s", got)
	}
}

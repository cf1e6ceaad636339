package view

import (
	"cmp"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
)

// childColumns are columns with a row for each child, in the order of arrival. A child that was repeated after a kill
// has one row.
type childColumns struct {
	Arm      []int      `json:"arm"`
	Pull     []int      `json:"pull"`  // the row of its round
	Step     []int      `json:"step"`  // of its arm, from 1
	Index    []int      `json:"index"` // in its step, from 0
	ID       []int      `json:"born"`  // order of birth in its arm, from 1
	Parents  [][]int    `json:"parents"`
	Score    []*float64 `json:"score"` // nil if it is invalid or has no program
	State    []int      `json:"state"` // one of the runState constants
	Operator []int      `json:"operator"`
	Model    []int      `json:"model"`   // -1 if no model was asked
	Cell     []int      `json:"cell"`    // -1 for none
	Island   []int      `json:"island"`  // -1 for none
	Program  []string   `json:"program"` // key; "" if there is none
	Reason   []string   `json:"reason"`  // why it has no score
	Time     []int64    `json:"time"`    // milliseconds since Begun, without the time in which no process ran
	Calls    []int      `json:"calls"`   // of the run, answered, by then
	Tokens   []int64    `json:"tokens"`
	FLOPs    []float64  `json:"flops"`
	Money    []float64  `json:"money"`
	// SD and Samples are the standard deviation and number of the samples of each score; nil if all scores are of one
	// evaluation.
	SD      []float64 `json:"sd,omitempty"`
	Samples []int     `json:"samples,omitempty"` // 0 for one
	// Chance and Credit are those of the draw of each child's proposer; nil if none was drawn.
	Chance []float64  `json:"chance,omitempty"` // 0 for none
	Credit []*float64 `json:"credit,omitempty"`
}

// The states of a child.
const (
	childValid     = 0
	childInvalid   = 1 // evaluated, without a score
	childUnparsed  = 2 // the reply had no program
	childFailed    = 3 // the call failed or stalled
	childAbandoned = 4 // the call was abandoned, or lost in a kill, and not repeated
	childRefused   = 5 // by the budget or a gate
)

// states numbers the states of children.
var states = map[history.State]int{
	books.StateValid: childValid, books.StateInvalid: childInvalid, books.StateUnparsed: childUnparsed,
	books.StateFailed: childFailed, books.StateRefused: childRefused, books.StateAbandoned: childAbandoned,
}

// children returns the columns of the children from a row on. They are copies, since a child that is repeated changes.
func (l *runLog) children(from int) childColumns {
	of := l.run.Children[from:]
	c := childColumns{ // empty and not null, since the script reads their lengths
		Arm:     column(of, func(c *history.Child) int { return c.Arm }),
		Pull:    column(of, func(c *history.Child) int { return c.Round }),
		Step:    column(of, func(c *history.Child) int { return c.Step }),
		Index:   column(of, func(c *history.Child) int { return c.Index }),
		ID:      column(of, func(c *history.Child) int { return c.ID }),
		Parents: column(of, func(c *history.Child) []int { return c.Parents }),
		Score:   column(of, scoreOf), State: column(of, func(c *history.Child) int { return states[c.State] }),
		Operator: column(of, func(c *history.Child) int { return l.labels.of(operatorOf(c)) }),
		Model:    column(of, l.modelLabel),
		Cell:     column(of, func(c *history.Child) int { return l.place(c, "cell") }),
		Island:   column(of, func(c *history.Child) int { return l.place(c, "island") }),
		Program:  column(of, func(c *history.Child) string { return shortKey(c.Program) }),
		Reason:   column(of, func(c *history.Child) string { return short(c.Reason) }),
		Time:     column(of, func(c *history.Child) int64 { return c.Time }),
		Calls:    column(of, func(c *history.Child) int { return c.Spent.Calls }),
		Tokens:   column(of, func(c *history.Child) int64 { return c.Spent.Tokens }),
		FLOPs:    column(of, func(c *history.Child) float64 { return c.Spent.FLOPs }),
		Money:    column(of, func(c *history.Child) float64 { return c.Spent.Money }),
	}
	if slices.ContainsFunc(of, func(c history.Child) bool { return c.Samples > 1 }) {
		c.SD, c.Samples = column(of, func(c *history.Child) float64 { return c.SD }),
			column(of, func(c *history.Child) int { return c.Samples })
	}
	if slices.ContainsFunc(of, func(c history.Child) bool { return c.Propensity > 0 }) {
		c.Chance, c.Credit = column(of, func(c *history.Child) float64 { return c.Propensity }),
			column(of, func(c *history.Child) *float64 { return c.Credit })
	}
	return c
}

// column returns value of each child.
func column[T any](of []history.Child, value func(*history.Child) T) []T {
	list := make([]T, len(of))
	for i := range of {
		list[i] = value(&of[i])
	}
	return list
}

func scoreOf(c *history.Child) *float64 {
	if !c.Valid {
		return nil
	}
	score := c.Score
	return &score
}

func operatorOf(c *history.Child) string {
	return cmp.Or(short(c.Operator), short(c.Proposer), history.PlainRewrite)
}

// modelLabel returns the label of the model that made a child, or -1.
func (l *runLog) modelLabel(c *history.Child) int {
	if c.Model == "" {
		return -1
	}
	return l.labels.of(short(c.Model))
}

// place returns the label of a child's place of that kind, or -1.
func (l *runLog) place(c *history.Child, kind string) int {
	name := short(c.Labels[kind])
	if name == "" {
		return -1
	}
	return l.labels.of(kind + " " + name)
}

// number gives labels to the names of new children, so that a name has the same number in all that a page receives.
func (l *runLog) number() {
	for i := l.labels.rows; i < len(l.run.Children); i++ {
		c := &l.run.Children[i]
		l.labels.of(operatorOf(c))
		l.place(c, "cell")
		l.place(c, "island")
		l.modelLabel(c)
	}
	l.labels.rows = len(l.run.Children)
}

// rounds returns the columns of the pulls, from a row on.
func rounds(run *history.Run, from int) roundColumns {
	c := roundColumns{}
	for _, r := range run.Rounds[from:] {
		c.Arm, c.Prob, c.Calls, c.Reward, c.Over = append(c.Arm, r.Arm), append(c.Prob, r.Prob), append(c.Calls, r.Calls),
			append(c.Reward, r.Reward), append(c.Over, r.Over)
		c.Best, c.Begin, c.End = append(c.Best, r.Best), append(c.Begin, r.Begin), append(c.End, r.End)
	}
	return c
}

// settledRounds returns the first row that may still change.
func settledRounds(run *history.Run) int {
	if i := slices.IndexFunc(run.Rounds, func(r history.Round) bool { return !r.Over }); i >= 0 {
		return i
	}
	return len(run.Rounds)
}

// short returns foreign text as one line that is safe to show, cut to a length for tables.
func short(s string) string { return history.Name(s) }

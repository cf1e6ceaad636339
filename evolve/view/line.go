package view

import "slices"

// mostSteps is how many programs of the champion's line a page shows: the initial one and the last ones.
const mostSteps = 200

// line returns the programs from the initial one to the best, without their diffs.
func (l *runLog) line() []lineStep {
	if len(l.rows.ranking) == 0 {
		return []lineStep{}
	}
	at := l.rows.ranking[0]
	a := &l.arms[l.rows.Arm[at]]
	steps := []lineStep{}
	for len(steps) < mostSteps {
		steps = append(steps, l.step(at))
		parents := l.rows.Parents[at]
		if len(parents) == 0 || parents[0] == 0 {
			break
		}
		parent, ok := a.born[parents[0]]
		if !ok || parent >= at { // a journal written by hand must not lead in a circle
			break
		}
		at = parent
	}
	if a.program != "" {
		steps = append(steps, lineStep{Row: -1, Arm: l.rows.Arm[at], Score: a.start.score, Program: a.program, Operator: "initial", Diff: []lineChange{}})
	}
	slices.Reverse(steps)
	return steps
}

// step returns one child as a step of the line.
func (l *runLog) step(at int) lineStep {
	s := lineStep{Row: at, Arm: l.rows.Arm[at], Operator: l.labels.names[l.rows.Operator[at]], Program: l.rows.Program[at], Said: l.programs.said[at]}
	if l.rows.Score[at] != nil {
		s.Score = *l.rows.Score[at]
	}
	if m := l.rows.Model[at]; m >= 0 {
		s.Model = l.labels.names[m]
	}
	return s
}

// fillLine fills in the diffs. It is called without the lock of the runLog, as diffs take time and a run must not wait for
// them. Most of them are known from the last time, and looked up under one lock: a page asks for 200 of them.
func (l *runLog) fillLine(steps []lineStep) {
	l.shown.known(steps)
	var keys []string
	for i := 1; i < len(steps); i++ {
		if steps[i].Diff == nil {
			keys = append(keys, steps[i-1].Program, steps[i].Program)
		}
	}
	texts := l.texts(keys)
	for i := 1; i < len(steps); i++ {
		if steps[i].Diff == nil {
			steps[i].Diff = l.shown.diff(steps[i-1].Program, steps[i].Program, texts)
		}
	}
}

// known fills in the diffs that are kept.
func (s *shown) known(steps []lineStep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(steps); i++ {
		steps[i].Diff = s.diffs[[2]string{steps[i-1].Program, steps[i].Program}]
	}
}

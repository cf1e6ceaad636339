package view

// mostSteps bounds the programs of the champion's line on a page: the initial one and the last ones.
const mostSteps = 200

// line returns the programs from the initial one to the best, without their diffs.
func (l *runLog) line() []lineStep {
	steps := []lineStep{}
	if len(l.run.Best) == 0 {
		return steps
	}
	rows := l.run.Line(l.run.Best[0], mostSteps)
	arm := l.run.Children[rows[0]].Arm
	if start := l.run.Arms[arm].Start; start.Program != "" || start.Known {
		steps = append(steps, lineStep{Row: -1, Arm: arm, Score: start.Value, Program: shortKey(start.Program),
			Operator: "initial", Diff: []lineChange{}})
	}
	for _, row := range rows {
		c := &l.run.Children[row]
		steps = append(steps, lineStep{Row: row, Arm: c.Arm, Score: c.Score, Operator: operatorOf(c), Model: short(c.Model),
			Program: shortKey(c.Program), Said: l.programs.said[row]})
	}
	return steps
}

// fillLine fills in the diffs. Call it without the lock of the runLog: diffs take time, and a run must not wait for
// them. Most diffs are cached, and looked up under one lock, since a page asks for 200 of them.
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

// known fills in the cached diffs.
func (s *shown) known(steps []lineStep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(steps); i++ {
		steps[i].Diff = s.diffs[[2]string{steps[i-1].Program, steps[i].Program}]
	}
}

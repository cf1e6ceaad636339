package history

// A Course is how far a search has come while its children are taken in: its best, and the best before the step under
// way. What counts as an improvement is decided here.
type Course struct {
	Best   Score
	before Score
}

// Step begins a step.
func (c *Course) Step() { c.before = c.Best }

// Take takes in the score of a child, and reports whether it is better than all that the search had before the step.
func (c *Course) Take(s Score) (improved bool) {
	if s.Better(c.Best) {
		c.Best = s
	}
	return s.Better(c.before)
}

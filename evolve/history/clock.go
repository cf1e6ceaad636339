package history

// A Clock makes one time of all parts of a run: milliseconds since it began, without those in which no process ran.
// Records carry the time of the machine, which may be set back, so the Clock never runs backwards.
type Clock struct {
	Begun, Last int64 // times of the machine, in milliseconds since 1970
	Idle        int64 // milliseconds in which no process ran
	Parts       int   // number of processes that worked on the run
}

// read takes in the time of a record.
func (c *Clock) read(t int64) {
	if c.Begun == 0 {
		c.Begun = t
	}
	c.Last = max(c.Last, t)
}

// part begins the part of another process. The time since the last record of the one before is left out, because
// nothing ran in it.
func (c *Clock) part(t int64) {
	if c.Parts++; c.Parts > 1 && t > c.Last {
		c.Idle += t - c.Last
		c.Last = t
	}
}

// Now returns the run's own time of the last record.
func (c Clock) Now() int64 { return c.Last - c.Begun - c.Idle }

package view

// A clock makes one time of all parts of a run: milliseconds since it began, without those in which no process ran.
// Records carry the time of the machine, which may be set back, so the clock never runs backwards.
type clock struct {
	begun, last int64 // of the machine, in milliseconds since 1970
	idle        int64 // in which no process ran
	parts       int   // how many processes worked on it
}

// read takes in the time of a record.
func (c *clock) read(t int64) {
	if c.begun == 0 {
		c.begun = t
	}
	c.last = max(c.last, t)
}

// part begins the part of another process. The time since the last record of the one before is left out, because
// nothing ran in it.
func (c *clock) part(t int64) {
	if c.parts++; c.parts > 1 && t > c.last {
		c.idle += t - c.last
		c.last = t
	}
}

// now returns the run's own time of the last record.
func (c *clock) now() int64 { return c.last - c.begun - c.idle }

package llm

// A Class is how an attempt counts in a budget.
type Class string

// The classes. Every attempt belongs to exactly one.
const (
	Real      Class = "real"     // an answer came: what a budget of calls counts
	Stall     Class = "stall"    // it timed out or stalled
	Errored   Class = "error"    // it failed
	Abandoned Class = "canceled" // the caller stopped waiting
)

// Classes returns all classes, in the order of results.
func Classes() []Class { return []Class{Real, Stall, Errored, Abandoned} }

// Class returns the class of an attempt with status s.
func (s Status) Class() Class {
	switch s {
	case OK:
		return Real
	case Timeout, Stalled:
		return Stall
	case Canceled:
		return Abandoned
	}
	return Errored
}

// ClassOf returns what a call that made these attempts counts as: the class of the last one, since the call ended with
// it. Three attempts of which the third was answered are one answered call. It is "" without attempts.
func ClassOf(attempts []Attempt) Class {
	if len(attempts) == 0 {
		return ""
	}
	return attempts[len(attempts)-1].Status.Class()
}

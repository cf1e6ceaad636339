package task

import "errors"

// ErrUnchanged is what a reply that leaves the parent as it was comes to: evaluating it would say
// nothing new. Errors that wrap it say how that came about.
var ErrUnchanged = errors.New("task: the reply changes nothing")

// A ParentParser is a [Task] that needs the parent to read a reply: replies that are diffs, or that
// must leave a part of the parent as it is. The tasks of [New] are such. [ParseFrom] is how to call
// it.
type ParentParser interface {
	// ParseFrom reads out of a reply the program that it makes of parent, the first of the
	// [Ask] that the reply answers; err says why there is none, and is [ErrUnchanged] if it would
	// be parent itself.
	ParseFrom(parent, reply string) (program string, err error)
}

// ParseFrom reads out of a reply the program that it makes of parent: with t's ParseFrom if t is a
// [ParentParser], else with that of the first task it wraps that is one ([As]), else with t's Parse. So a wrapper that changes Parse and unwraps needs a ParseFrom too.
func ParseFrom(t Task, parent, reply string) (string, error) {
	if p, ok := As[ParentParser](t); ok {
		return p.ParseFrom(parent, reply)
	}
	return t.Parse(reply)
}

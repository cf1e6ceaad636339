package evolve

import "github.com/evoalloc/evoalloc/evolve/internal/step"

// A PanicError says that code that was given to a run panicked: an arm, the policy, a task, a model, a hook. It has the
// fields What (whose code it was), Value (what it panicked with) and Stack (where).
// [Run] returns it like any other error of such code, and its result holds what was paid for until then. A crash
// would lose that in a run without a journal.
type PanicError = step.Panic

// Refused reports whether err says that a call or an evaluation was not made. limit is the field of the Budget
// that has no room for it, or "" if the run is coming to an end.
func Refused(err error) (limit string, refused bool) { return step.Refusal(err) }

// Lost reports whether err says that an evaluation was lost because a call of its evaluator failed. It cost one
// program, and the search can go on.
func Lost(err error) bool { return step.IsLost(err) }

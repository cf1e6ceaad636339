package evolve

// TurnOf returns a turn of so many calls that limits and records nothing else.
func TurnOf(calls int) *Turn { return &Turn{calls: calls} }

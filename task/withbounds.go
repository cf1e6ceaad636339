package task

import "fmt"

// WithBounds returns t with bounds for the sections of its prompts. A negative one is 0. Its Fingerprint has them, so a
// journal begun with bounds cannot be resumed with others. WithBounds panics if t is nil.
func WithBounds(t Task, b Bounds) Task {
	if t == nil {
		panic("task: WithBounds(nil): need a task")
	}
	return asking(withAsk{t, fmt.Sprintf("with at most (%v) tokens", b), func(ask Request) Request {
		all := make(Bounds, len(b)+len(ask.Bounds))
		for _, bounds := range []Bounds{b, ask.Bounds} { // those of a WithBounds around this one stand
			for name, tokens := range bounds {
				all[name] = max(tokens, 0)
			}
		}
		ask.Bounds = all
		return ask
	}})
}

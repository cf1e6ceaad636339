package evolve

import "github.com/evoalloc/evoalloc/llm"

// EachCall calls yield for the attempts of every model call of the generation: by child, then those beside the
// children. Every count and cost of a run is made from this one walk, so that none of them leaves a call out.
func (g Generation) EachCall(yield func([]llm.Attempt) bool) {
	for _, c := range g.Children {
		if c.Asked() && !yield(c.Attempts) {
			return
		}
	}
	for _, c := range g.Asides {
		if !yield(c.Attempts) {
			return
		}
	}
}

// EachCall calls yield for the attempts of every model call of the arm: those before its first step, then by
// generation, oldest first.
func (a ArmResult) EachCall(yield func([]llm.Attempt) bool) {
	for _, c := range a.Asides {
		if !yield(c.Attempts) {
			return
		}
	}
	for _, g := range a.Generations {
		for attempts := range g.EachCall {
			if !yield(attempts) {
				return
			}
		}
	}
}

// EachCall calls yield for the attempts of every model call of the result, arm by arm. What is in
// [Result.Earlier] is not among them.
func (r *Result) EachCall(yield func([]llm.Attempt) bool) {
	for _, arm := range r.Arms {
		for attempts := range arm.EachCall {
			if !yield(attempts) {
				return
			}
		}
	}
}

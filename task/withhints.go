package task

import (
	"fmt"
	"slices"
)

// WithHints returns t with the hints of h for each parent in the prompt, as sections named [ShowHints]: of 160 bytes
// each, the heaviest last. Nothing else changes, in particular no scores. Hints that fail or panic are left out. h is
// called once for each program ([Remembered]).
//
// The tasks of [New] show sections. A task with a prompt of its own must show them itself.
//
// Its Fingerprint consists of that of t, if t or a task that it wraps has one, and of h's. So a journal begun with
// hints cannot be resumed without them. WithHints panics if t or h is nil.
func WithHints(t Task, h Hints) Task {
	if t == nil || h == nil {
		panic(fmt.Sprintf("task: WithHints(%v, %v): neither may be nil", t, h))
	}
	h = Remembered(h)
	return asking(withAsk{t, "with sections of hints " + hintsName(h), func(ask Request) Request {
		ask.Sections = slices.Concat(hintsFor(t, h, ask), ask.Sections)
		return ask
	}})
}

// hintsFor returns the hints of the parents, or of the initial program if there are none.
func hintsFor(t Task, h Hints, ask Request) (sections []Section) {
	programs := []string{t.Initial()}
	if len(ask.Parents) > 0 {
		programs = programs[:0]
		for _, p := range ask.Parents {
			programs = append(programs, p.Program)
		}
	}
	for i, program := range programs {
		of := "the program"
		if len(programs) > 1 {
			of = fmt.Sprintf("program %d", i+1)
		}
		if hints, err := h.Hints(program); err == nil {
			sections = append(sections, hintSection(of, hints))
		}
	}
	return sections
}

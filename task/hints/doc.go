// Package hints finds in the text of a program what may make it slow: in Go what the compiler's escape analysis says
// ([Go]), in Python what its syntax shows ([Python]). Show what it finds in prompts with [task.WithHints].
//
// Programs are hostile, so none is run. A finding claims no more than a text can show, and says "may" of the rest.
package hints

import "github.com/evoalloc/evoalloc/task"

// maxProgram is how many bytes of a program are read. A larger one has no hints.
const maxProgram = 64 << 10

var (
	_ task.Hints = (*Go)(nil)
	_ task.Hints = (*Python)(nil)
)

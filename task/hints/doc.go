// Package hints finds in the text of a program what may make it slow: in Go by its syntax and the compiler's escape
// analysis ([Go]), in Python by its syntax ([Python]). Show what it finds in prompts with [task.WithHints].
//
// Programs are hostile, so none is run. A finding claims no more than a text can show, and says "may" of the rest. What
// neither knows: how often a loop goes round, what types come from other packages, what a profile would say, and
// whether a finding matters for the score. docs/claims.md says how often findings are right.
package hints

import "github.com/evoalloc/evoalloc/task"

// maxProgram is how many bytes of a program are read. A larger one has no hints.
const maxProgram = 64 << 10

var (
	_ task.Hints = (*Go)(nil)
	_ task.Hints = (*Python)(nil)
)

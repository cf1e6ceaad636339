package task

import "errors"

// ErrUnchanged says that a reply leaves the parent as it was. To evaluate that again would show nothing new.
// Errors that wrap it say how the reply did so.
var ErrUnchanged = errors.New("task: the reply changes nothing")

// A ParentParser is a [Task] that needs the parent to read a reply: replies that are diffs, or that
// must leave a part of the parent as it is. The tasks of [New] are such. Call it by [ParseAs].
type ParentParser interface {
	// ParseFrom reads out of a reply the program that it makes of parent, which is the first parent of
	// the [Ask] that the reply answers. err says why there is none. It is [ErrUnchanged] if the program
	// would be parent itself.
	ParseFrom(parent, reply string) (program string, err error)
}

// Mended says what a reply in a form left out and [ParseAs] put back to read a program out of it, such as the
// EVOLVE-BLOCK markers of parent. It is "" where the reply needed nothing, has no program, or t does not say. It calls
// the method Mended of t, or of the first task that t wraps, that has one ([As]). So a wrapper that changes ParseFrom
// needs a Mended too.
func Mended(t Task, form Form, parent, reply string) string {
	if m, ok := As[interface {
		Mended(form Form, parent, reply string) string
	}](t); ok {
		return m.Mended(form, parent, reply)
	}
	return ""
}

package task

import "errors"

// ErrUnchanged means that a reply leaves the parent unchanged, so that an evaluation would show nothing new. Errors
// that wrap it give the details.
var ErrUnchanged = errors.New("task: the reply changes nothing")

// A ParentParser is a [Task] that needs the parent to read a reply: a diff, or a program that must keep a part of the
// parent. The tasks of [New] are ParentParsers. Call it through [ParseAs].
type ParentParser interface {
	// ParseFrom reads a program out of a reply to an [Ask] whose first parent is parent. err says why there is none. It is
	// [ErrUnchanged] if the program equals parent.
	ParseFrom(parent, reply string) (program string, err error)
}

// Mended returns what a reply left out and [ParseAs] restored, such as the EVOLVE-BLOCK markers of parent. It is "" if
// the reply was complete, has no program, or t does not tell. It calls the method Mended of t, or of the first task in
// its chain that has one ([As]). So a wrapper that changes ParseFrom needs a Mended too.
func Mended(t Task, form Form, parent, reply string) string {
	if m, ok := As[interface {
		Mended(form Form, parent, reply string) string
	}](t); ok {
		return m.Mended(form, parent, reply)
	}
	return ""
}

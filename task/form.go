package task

// A Form is the form of a program in a reply.
type Form int

// The forms.
const (
	AsTask  Form = iota // the task's own form
	AsWhole             // one complete program
	AsDiff              // changes to the first parent; a complete program is accepted too
)

// String names the form.
func (f Form) String() string {
	switch f {
	case AsWhole:
		return "AsWhole"
	case AsDiff:
		return "AsDiff"
	}
	return "AsTask"
}

// diffs reports whether the form is diffs; byItself reports whether that is the task's own form.
func (f Form) diffs(byItself bool) bool { return f == AsDiff || f == AsTask && byItself }

// A FormParser is a [Task] that supports both forms. The tasks of [New] are FormParsers. Call it through [ParseAs].
type FormParser interface {
	// ParseAs reads a program out of a reply in a form, like ParseFrom of [ParentParser].
	ParseAs(form Form, parent, reply string) (program string, err error)
}

// ParseAs reads out of a reply in a form the program that it makes of parent. It calls the ParseAs of t, or of the
// first task that t wraps, that is a [FormParser] ([As]). As the task has it, or without one, as the prompt of such a
// task asks for one form alone, it calls the ParseFrom of the first that is a [ParentParser], and else t's Parse. So a
// wrapper that changes Parse and has an Unwrap needs a ParseFrom too.
func ParseAs(t Task, form Form, parent, reply string) (string, error) {
	if p, ok := As[FormParser](t); ok && form != AsTask {
		return p.ParseAs(form, parent, reply)
	}
	if p, ok := As[ParentParser](t); ok {
		return p.ParseFrom(parent, reply)
	}
	return t.Parse(reply)
}

package population

import "github.com/evoalloc/evoalloc/evolve/internal/step"

// An Abler is an [Operator] that cannot always make a child, because there may be nothing to repair, or nobody to cross
// with. Config.Policy chooses among those that can.
type Abler interface {
	// Able reports whether the operator can make a child of v.Parent.
	Able(v *View) bool
}

// A Hinter is an [Operator] that has something to tell when another one asks a model for a child, such as that numbers
// need not be chosen well because they are tuned afterwards.
type Hinter interface {
	// Hint returns what is added to the instruction; "" adds nothing. A Brief with Messages of its own shows no hint.
	Hint(v *View) string
}

// A Follower is an [Operator], [Gate], [Selector] or [Archive] that is told of children; one within [Islands] is not.
type Follower interface {
	// Follow is told of each child, in the order in which they are taken in, before the archive has it: an operator of its
	// own, and a gate of the initial program too, the child with the ID 0. It is called on the goroutine of the search,
	// while gates may judge on others.
	Follow(b Birth)
}

// A Placer is an [Archive] whose members have places, such as cells.
type Placer interface {
	// Place returns where m stands, or would stand if it had been kept; "" if that is not known. It is asked about each
	// valid child that was offered. The child's label "cell" in journals and events is what it returns.
	Place(m Member) string
}

// A Validator is a part of any kind that knows whether its fields are right. What is wrong with another shows when it
// is used.
type Validator interface {
	// Validate returns what is wrong, which [New] returns before anything is paid for.
	Validate() error
}

// Able reports whether an operator can make a child: all can but an [Abler] that says otherwise.
func Able(o Operator, v *View) bool {
	a, ok := o.(Abler)
	return !ok || a.Able(v)
}

// Follow tells a part of a child if it is a [Follower].
func Follow(part any, b Birth) {
	if f, ok := part.(Follower); ok {
		f.Follow(b)
	}
}

// Hint returns what an operator has to tell, "" if it is no [Hinter].
func Hint(o Operator, v *View) string {
	if h, ok := o.(Hinter); ok {
		return h.Hint(v)
	}
	return ""
}

// follow tells a part of a child, and returns a panic as an error that names the part.
func follow(what string, part any, b Birth) error {
	return step.Guard(named(what, part), func() { Follow(part, b) })
}

// valid returns what is wrong with a part.
func valid(part any) error {
	if v, ok := part.(Validator); ok {
		return v.Validate()
	}
	return nil
}

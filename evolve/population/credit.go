package population

// Improved is 1 for a child that is strictly better than its parent, and else 0: for one that is not, that is
// invalid, that has no program, or that a gate refused. Nothing is learned from a call that brought no answer, because
// that is the endpoint's doing.
func Improved(b Birth) (reward float64, ok bool) {
	if b.Asked() && !b.Answered() {
		return 0, false
	}
	if b.Improved() {
		return 1, true
	}
	return 0, true
}

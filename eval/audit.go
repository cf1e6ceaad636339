package eval

// An Audit is a second evaluator's result for a program that a search considered its best.
type Audit struct {
	Candidate        // with the search's own result
	Second    Result // the second evaluator's result; invalid, with a Reason, if it could not be asked
	Demoted   bool   // whether the search reverted to an earlier best
	Why       string // the reason for the demotion; "" without one
}

// Gap returns the search's score − the second evaluator's, and false unless both are valid. It is meaningful if both
// scores have one scale.
func (a Audit) Gap() (float64, bool) {
	return a.Result.Score - a.Second.Score, a.Result.Valid && a.Second.Valid
}

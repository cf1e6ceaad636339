package eval

// An Audit is what a second evaluator says of a program that a search held to be its best.
type Audit struct {
	Candidate        // with what the search knows of it
	Second    Result // what the second evaluator says; not valid, with a Reason, if it could not be asked
	Demoted   bool   // the search does not keep it as its best
	Why       string // it was demoted; "" otherwise
}

// Gap returns the search's score − the second evaluator's, and false unless both are valid. It means something where both
// scores have one scale.
func (a Audit) Gap() (float64, bool) {
	return a.Result.Score - a.Second.Score, a.Result.Valid && a.Second.Valid
}

package llm

// A Learner is an LLM that wants to hear what became of its replies, as an ensemble does that chooses
// between models (package llm/ensemble).
//
// A search finds it with llm.As[llm.Learner]. It calls Learn once for each reply that it records, whether
// that ended well or not, when the child is scored. Outcomes may come late and in any order, and some not
// at all, where the search stopped. What is chosen next depends on what was learned before. A search whose
// results must not depend on scheduling therefore calls Learn for a generation's children when the
// generation ends, by index.
//
// Everything in an Outcome is in the child's record. A run that goes on from a journal calls Learn for the
// replies that it finds there, without asking the model, so that the Learner knows what it knew.
// Implementations are safe for concurrent use, and ignore an Outcome in which they had no part.
type Learner interface {
	Learn(Outcome)
}

// An Outcome is what became of one reply.
type Outcome struct {
	Attempts []Attempt // the reply's, as recorded
	Valid    bool      // the reply held a program, and the program was scored and is valid
	Score    float64   // the program's; 0 if not Valid
	Parent   float64   // the score that it was to improve on; 0 if there was none
}

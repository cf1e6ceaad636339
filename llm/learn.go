package llm

// A Learner is an LLM that wants to hear what became of its replies, as an ensemble does that chooses
// between models (package llm/ensemble).
//
// A search finds it with llm.As[llm.Learner] and calls Learn once for each reply that it records, whether it
// ended well or not, when the child is scored. It may come late and in any order; a reply that is
// never told of, because the search stopped, is no harm. What is chosen next depends on what was
// learned before, so a search whose results must not depend on scheduling tells of a generation's
// children when it ends, by index.
//
// Everything in an Outcome is in the child's record. A run that goes on from a journal learns again
// from the replies that it finds there, without the model being asked, and so comes to know what it
// knew. Implementations are safe for concurrent use, and take an Outcome in which they have no part
// as nothing.
type Learner interface {
	Learn(Outcome)
}

// An Outcome is what became of one reply.
type Outcome struct {
	Attempts []Attempt // the reply's, as recorded
	Valid    bool      // it held a program that was scored
	Score    float64   // the program's; 0 if not Valid
	Parent   float64   // the score that it was to improve on; 0 if there was none
}

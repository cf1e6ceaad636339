package llm

// A Learner is an LLM that learns from the outcomes of its replies, as an ensemble does to choose between models
// (package llm/ensemble).
//
// A search finds the Learner with llm.As[llm.Learner]. It calls Learn once for each reply that it records, successful
// or not, when the child is scored. Outcomes may arrive late and in any order, and some never, if the search stopped.
// Later choices depend on earlier outcomes, so a search whose results must not depend on scheduling calls Learn for all
// children at the end of a generation, by index.
//
// Everything in an Outcome is in the child's record. A resumed run calls Learn for the replies in the journal, without
// asking the model, which restores the Learner's state. Implementations are safe for concurrent use, and ignore
// Outcomes of other models.
type Learner interface {
	Learn(Outcome)
}

// An Outcome is the outcome of one reply.
type Outcome struct {
	Attempts []Attempt // the reply's, as recorded
	Valid    bool      // whether the reply held a valid program
	Score    float64   // the program's score; 0 unless Valid
	Parent   float64   // the parent's score; 0 if there was none
}

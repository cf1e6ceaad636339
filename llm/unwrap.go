package llm

// Unwrap returns the LLM behind the limit.
func (s *limited) Unwrap() LLM { return s.l }

// Unwrap returns the LLM that is asked again.
func (r *retrying) Unwrap() LLM { return r.l }

package eval

// ExactPrefix begins the names of metrics that repeat another figure without tolerance: exact_score for Score,
// and exact_paper_score for the metric paper_score. An evaluator that forgives small violations of a
// constraint adds such a metric where the figures differ by more than rounding. It is 0 if the figure does not exist
// without tolerance.
const ExactPrefix = "exact_"

// exactScore is the metric that holds Score without tolerance.
const exactScore = ExactPrefix + "score"

// Strict returns r with its score without tolerance: the metric exact_score, or Score if that metric is missing.
func (r Result) Strict() Result {
	if exact, ok := r.Metrics[exactScore]; ok && r.Valid {
		r.Score = exact
	}
	return r
}

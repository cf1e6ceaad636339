package sweep

import (
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// limitedCalls returns models with at most n calls in flight at all of them together, and with retries. The limit is
// within the retries: a call that pauses before a retry holds no slot.
func limitedCalls(models []Model, n int, retry llm.RetryConfig) []Model {
	first := llm.Limit(models[0].LLM, n)
	shared := first.(interface{ Around(llm.LLM) llm.LLM })
	limited := make([]Model, len(models))
	for i, m := range models {
		limited[i] = m
		limited[i].LLM = llm.Retry(shared.Around(m.LLM), retry)
	}
	return limited
}

// limitedEvaluations returns tasks with at most n evaluations under way in all of them together.
func limitedEvaluations(tasks []task.Task, n int) []task.Task {
	first := eval.Limit(tasks[0], n)
	shared := first.(interface {
		Around(eval.Evaluator) eval.Evaluator
	})
	limited := make([]task.Task, len(tasks))
	for i, t := range tasks {
		limited[i] = task.WithEvaluator(t, shared.Around(t))
	}
	return limited
}

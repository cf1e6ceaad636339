package sweep

import (
	"context"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// The limits of a sweep hold for all its models and all its tasks together, while those of packages llm and eval stand
// around one model or one evaluator. So each limit stands around a value that passes on to the one that the context
// names.

// limitedCalls returns models with at most n calls of all of them in flight, each call repeated as retry says. The limit
// is within the retries: a call that pauses before it is repeated holds no place.
func limitedCalls(models []Model, n int, retry llm.RetryConfig) []Model {
	limit := llm.Limit(named{}, n)
	limited := make([]Model, len(models))
	for i, m := range models {
		limited[i] = Model{m.Spec, llm.Retry(sharedModel{limit, m.LLM}, retry)}
	}
	return limited
}

// named is the model that the context names.
type named struct{}

func (named) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return llm.Send(ctx, ctx.Value(modelKey{}).(llm.LLM), req)
}

// Announces returns true, because llm.Send announces what the model does not.
func (named) Announces() bool { return true }

type modelKey struct{}

// A sharedModel is a model behind a limit that it shares with others.
type sharedModel struct{ limit, of llm.LLM }

var _ llm.LLM = sharedModel{}

func (m sharedModel) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return m.limit.Generate(context.WithValue(ctx, modelKey{}, m.of), req)
}

// Announces returns true, because the limit announces what it sends, see [llm.Announces].
func (m sharedModel) Announces() bool { return true }

// Unwrap returns the model behind the limit.
func (m sharedModel) Unwrap() llm.LLM { return m.of }

// limitedEvaluations returns tasks with at most n evaluations of all of them under way.
func limitedEvaluations(tasks []task.Task, n int) []task.Task {
	limit := eval.Limit(eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
		return ctx.Value(evaluatorKey{}).(eval.Evaluator).Evaluate(ctx, program)
	}), n)
	limited := make([]task.Task, len(tasks))
	for i, t := range tasks {
		limited[i] = task.WithEvaluator(t, sharedEvaluator{limit, t})
	}
	return limited
}

type evaluatorKey struct{}

// A sharedEvaluator is an evaluator behind a limit that it shares with others.
type sharedEvaluator struct{ limit, of eval.Evaluator }

var _ eval.Evaluator = sharedEvaluator{}

func (e sharedEvaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return e.limit.Evaluate(context.WithValue(ctx, evaluatorKey{}, e.of), program)
}

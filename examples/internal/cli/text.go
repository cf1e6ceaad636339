package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/examples/internal/dues"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
	"github.com/evoalloc/evoalloc/task/text"
)

// textKey is the value of --task whose programs are prompts.
const textKey = "text"

// checkText finds flags of that task that would have no effect.
func (o *Options) checkText() error {
	for _, name := range []string{"cases", "prompt", "scorer"} {
		if o.Task != textKey && o.given[name] && name != "prompt" {
			return Usagef("--%s has no effect on the task %s: it is for --task text", name, o.Task)
		}
	}
	switch {
	case o.Task == textKey && o.given["runtime"]:
		return Usagef("--runtime has no effect on --task text: its programs are prompts, which a model answers by")
	case o.Scorer != "" && o.Cases == "":
		return Usagef("--scorer has no effect without --cases: the built-in cases have a scorer")
	case o.Task == textKey && len(o.Prompt) > 1:
		return Usagef("--prompt is given %d times: a search of --task text begins with one prompt", len(o.Prompt))
	case o.Cases != "" && len(o.Prompt) == 0 && o.Scorer == "":
		return Usagef("--cases needs a prompt to begin with: --prompt with a file, or --scorer with a folder that has one")
	}
	return nil
}

// text returns the task whose programs are prompts. The model that answers the cases is the one that proposes, with as
// many calls in flight again; offline it is a stand-in of its own.
func (o *Options) text() (task.Task, error) {
	target, err := o.target()
	if err != nil {
		return nil, err
	}
	c := dues.Config(target)
	if o.Cases != "" {
		if err := o.ownCases(&c); err != nil {
			return nil, err
		}
	}
	if len(o.Prompt) > 0 {
		prompt, err := os.ReadFile(o.Prompt[0])
		if err != nil {
			return nil, &UsageError{fmt.Errorf("--prompt: %w", err)}
		}
		c.Initial = string(prompt)
	}
	if o.Minibatches {
		c.Reflect = -1
	}
	t, err := text.New(c)
	if err != nil {
		return nil, &UsageError{err}
	}
	return t, nil
}

// minibatch is how many train cases GEPA has a parent answer before it is rewritten, and then the child.
const minibatch = 3

// CheckBudget refuses a budget with which a run of t cannot begin: one that cannot hold the first call in the worst case,
// or that [Options.CheckCases] refuses.
func (o *Options) CheckBudget(t task.Task, b evolve.Budget) error {
	first := eval.Candidate{Program: t.Initial(), Result: eval.Result{Valid: true}}
	if err := b.Fits(llm.Request{Messages: t.Prompt(task.Request{Parents: []eval.Candidate{first}})}); err != nil {
		return Usagef("%w, with a token for each byte of its prompt and --max-tokens %d", err,
			cmp.Or(o.MaxTokens, llm.DefaultMaxTokens))
	}
	return o.CheckCases(t, b.Calls)
}

// CheckCases refuses a budget of so many answers with which a prompt cannot be improved: each prompt takes an answer
// for each of its cases, its making one more, and a minibatch one for each of its cases by the parent and by the child.
// Without the error the first prompt would be paid for in vain.
func (o *Options) CheckCases(t task.Task, answers int) error {
	prompts, ok := task.As[*text.Task](t)
	if !ok {
		return nil
	}
	cases, err := prompts.Parts(t.Initial(), 0)
	if err != nil {
		return err
	}
	least, what, before := 2*len(cases)+1, "the first prompt and one other", ""
	if batch, ok := prompts.Minibatch(0, minibatch).(eval.Composite); ok && o.Minibatches {
		tried, err := batch.Parts(t.Initial(), 0)
		if err != nil {
			return err
		}
		least += 2 * len(tried)
		before = fmt.Sprintf(", and before that with its parent %d for train cases", 2*len(tried))
	}
	if o.budget.target != "" { // which the first prompt may have
		least, what, before = len(cases), "the first prompt", ""
	}
	if answers < least {
		return Usagef("the budget of %d answers is too small for the task %s: a prompt takes %d for its cases%s, so %s take "+
			"at least T·N = %d", answers, t.Name(), len(cases), before, what, least)
	}
	return nil
}

// target returns who answers the cases.
func (o *Options) target() (llm.LLM, error) {
	if o.Offline() {
		return dues.Target{}, nil
	}
	if strings.Contains(o.Model, ",") {
		return nil, Usagef("--model %q: the cases of --task %s are answered by one model: name one", o.Model, textKey)
	}
	_, who, err := o.Connect(func(m llm.Model, base string) (llm.LLM, error) {
		return openai.New(o.Client(m, base))
	})
	if err != nil {
		return nil, err
	}
	return llm.Retry(llm.Limit(who.LLM, o.ParallelLLM), llm.RetryConfig{Outage: o.Outage, Notice: Notice}), nil
}

// ownCases puts the cases and the scorer that the flags name in the place of the built-in ones. The scorer's initial
// program is a prompt.
func (o *Options) ownCases(c *text.Config) error {
	f, err := os.Open(o.Cases)
	if err != nil {
		return &UsageError{fmt.Errorf("--cases: %w", err)}
	}
	defer f.Close()
	sets, err := text.ReadCases(f)
	if err != nil {
		return &UsageError{fmt.Errorf("--cases %s: %w", o.Cases, err)}
	}
	c.Train, c.Validation, c.HeldOut = sets.Train, sets.Validation, sets.HeldOut
	c.About, c.Score = "", text.Exact
	if o.Scorer == "" {
		return nil
	}
	scorer, err := folder.Load(context.Background(), o.Scorer,
		folder.Config{Python: o.Python()})
	if err != nil {
		return &UsageError{fmt.Errorf("--scorer: %w", err)}
	}
	c.Initial, c.Score, c.Scorer = scorer.Initial(), nil, scorer // its interpreters end with this process
	return nil
}

package text

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// Evaluate scores a prompt outside of a run, which evaluates the Parts instead.
func (t *Task) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return eval.Compose(ctx, t, program)
}

// Parts returns the cases that a prompt is scored on, and after them those of its feedback.
func (t *Task) Parts(program string, sample int) ([]eval.Evaluator, error) {
	if _, err := t.read(program); err != nil {
		return nil, &eval.ProgramError{Reason: err.Error()}
	}
	parts := t.answers(validation, all(len(t.cfg.Validation)), sample)
	return append(parts, t.answers(train, t.reflected(program), sample)...), nil
}

// reflected returns the train cases of a prompt's feedback. They are drawn by the prompt's text, so that successive
// prompts see many of them.
func (t *Task) reflected(program string) []int {
	text := strings.TrimRight(program, " \t\r\n")
	return stream.New(0, "text reflect "+text, 0).Perm(len(t.cfg.Train))[:t.cfg.Reflect]
}

func (t *Task) answers(of set, cases []int, sample int) []eval.Evaluator {
	list := make([]eval.Evaluator, len(cases))
	for k, i := range cases {
		list[k] = answer{t, of, i, sample}
	}
	return list
}

// all returns 0 to n−1.
func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Join makes a prompt's result: the score and the cases are those of the validation cases, and the artifacts are the
// worst train cases. The metrics are "train", the mean of the train cases, and "unanswered" if there are unanswered
// cases.
func (t *Task) Join(program string, parts []eval.Result) (eval.Result, error) {
	n := len(t.cfg.Validation)
	r, feedback := mean(parts[:n]), mean(parts[n:])
	switch why := noReply(parts[:n]); {
	case !r.Valid:
		return r, nil
	case len(parts) > n && !feedback.Valid:
		return feedback, nil
	case why != "" && strings.TrimRight(program, " \t\r\n") == strings.TrimRight(t.initial, " \t\r\n"):
		return r, fmt.Errorf("text: %s: the target answered none of %d cases by the initial prompt: %s", t.Name(), n, why)
	case why != "":
		return unansweredAll(n, why), nil
	}
	if len(parts) > n {
		r.Metrics["train"] = feedback.Score
	}
	if lost := r.Metrics[metricUnanswered] + feedback.Metrics[metricUnanswered]; lost > 0 {
		r.Metrics[metricUnanswered] = lost
	}
	r.Artifacts = t.worst(t.reflected(program), parts[n:])
	return r, nil
}

// mean returns the mean score of cases, with the score of each, or an invalid result if one of them is invalid.
func mean(cases []eval.Result) eval.Result {
	r := eval.Result{Valid: true, Metrics: map[string]float64{}}
	lost := 0.0
	for _, c := range cases {
		if !c.Valid {
			return eval.Result{Reason: c.Reason}
		}
		r.Cases = append(r.Cases, c.Score)
		r.Score += c.Score
		lost += c.Metrics[metricUnanswered]
	}
	r.Score /= float64(max(1, len(cases)))
	if lost > 0 {
		r.Metrics[metricUnanswered] = lost
	}
	return r
}

// noReply returns why the first of cases has no reply, or "" if one of them has.
func noReply(cases []eval.Result) (why string) {
	if slices.ContainsFunc(cases, func(c eval.Result) bool { return c.Metrics[metricUnanswered] == 0 }) {
		return ""
	}
	return cases[0].Artifacts[artifactFeedback]
}

// unansweredAll returns the result of a prompt without a reply to any of n cases.
func unansweredAll(n int, why string) eval.Result {
	return eval.Invalid("the target answered none of %d cases by it: %s", n, why)
}

// maxShown is more than the bytes that one case takes where the search's model is shown it.
const maxShown = 3*maxField + 300

// worst returns the worst of some train cases for the search's model, the worst first.
func (t *Task) worst(cases []int, results []eval.Result) map[string]string {
	order := all(len(cases))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(results[a].Score, results[b].Score) })
	shown := map[string]string{}
	for rank, k := range order[:t.cfg.Show] {
		c := t.cfg.Train[cases[k]]
		shown[fmt.Sprintf("case %02d of the worst, %s", rank+1, c.ID)] = c.answered(results[k])
	}
	return shown
}

// answered returns a case and how it was answered, for the search's model.
func (c Case) answered(r eval.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "input: %s\n", clip(c.Input))
	if reply, ok := r.Artifacts[artifactReply]; ok {
		fmt.Fprintf(&b, "reply: %s\n", reply)
	}
	fmt.Fprintf(&b, "score: %.6g\n", r.Score)
	if f := r.Artifacts[artifactFeedback]; f != "" {
		fmt.Fprintf(&b, "feedback: %s\n", f)
	}
	return b.String()
}

// A batch scores on some cases of one set.
type batch struct {
	t    *Task
	of   set
	i, n int // the i-th batch of n cases; n of 0 means the whole set
}

var _ eval.Composite = batch{}

// Minibatch returns the evaluator of the i-th batch of n train cases, from 0. Batches go through all train cases in an
// order that is drawn anew each time, as GEPA's do, and equal batches are equal values. It panics if i < 0 or n < 1.
//
// It is for population.Screen: a child must score better than its parent on a batch before it is evaluated. The
// artifacts of the result are the cases with their replies and feedback, for a search that shows its model how the
// parent does on them.
func (t *Task) Minibatch(i, n int) eval.Evaluator {
	if i < 0 || n < 1 {
		panic(fmt.Sprintf("text: Minibatch(%d, %d): need a batch from 0 and at least one case", i, n))
	}
	return batch{t, train, i, min(n, len(t.cfg.Train))}
}

// HeldOut scores a prompt on the held-out cases; see [task.HeldOut]. The target is asked each time.
func (t *Task) HeldOut(ctx context.Context, program string) (eval.Result, error) {
	return batch{t: t, of: heldOut}.Evaluate(ctx, program)
}

// String names the batch.
func (b batch) String() string {
	if b.n == 0 {
		return fmt.Sprintf("text %s, %s", b.t.Name(), b.of)
	}
	return fmt.Sprintf("text %s, %s, batch %d of %d", b.t.Name(), b.of, b.i, b.n)
}

// Evaluate scores a prompt outside of a run.
func (b batch) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return eval.Compose(ctx, b, program)
}

// Parts returns the cases.
func (b batch) Parts(program string, sample int) ([]eval.Evaluator, error) {
	if _, err := b.t.read(program); err != nil {
		return nil, &eval.ProgramError{Reason: err.Error()}
	}
	return b.t.answers(b.of, b.cases(), sample), nil
}

// cases returns the batch's cases of the set. A round has every case once; the last batch of a round is filled up from
// the next round.
func (b batch) cases() []int {
	size := len(b.t.cfg.of(b.of))
	if b.n == 0 {
		return all(size)
	}
	var list []int
	for k := b.i * b.n; len(list) < b.n; k++ {
		order := stream.New(0, "text round", uint64(k/size)).Perm(size)
		if c := order[k%size]; !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// Join returns the mean, with the score of each case, and the cases themselves if a search may read them. If no case
// has a reply, even the initial prompt is only invalid: with few cases that can be chance, and an error would end the
// run.
func (b batch) Join(_ string, parts []eval.Result) (eval.Result, error) {
	if why := noReply(parts); why != "" {
		return unansweredAll(len(parts), why), nil
	}
	r := mean(parts)
	if r.Valid && b.of == train {
		r.Artifacts = make(map[string]string, len(parts))
		for k, i := range b.cases() {
			c := b.t.cfg.Train[i]
			r.Artifacts[fmt.Sprintf("case %02d, %s", k+1, c.ID)] = c.answered(parts[k])
		}
	}
	return r, nil
}

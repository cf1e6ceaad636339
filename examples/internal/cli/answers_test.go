package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A counted model counts what it answers.
type counted struct{ calls int }

func (c *counted) Generate(context.Context, llm.Request) (llm.Reply, error) {
	c.calls++
	return llm.Reply{Text: "well", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
}

// Where an answer could not be kept, nothing is asked for.
func TestAnswersThatCannotBeKept(t *testing.T) {
	model := &counted{}
	a, err := openAnswers(filepath.Join(t.TempDir(), "none", "r.heldout"), "run")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.ask(t.Context(), model, llm.Request{}); !errors.Is(err, os.ErrNotExist) || model.calls != 0 {
		t.Errorf("no folder: %v, %d calls", err, model.calls)
	}
	path := filepath.Join(t.TempDir(), "r.heldout")
	if a, err = openAnswers(path, "run"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ask(t.Context(), model, llm.Request{Seed: 1}); err != nil || model.calls != 1 {
		t.Fatalf("%v, %d calls", err, model.calls)
	}
	if err := os.Remove(path); err != nil { // so that the next one is not kept
		t.Fatal(err)
	}
	for seed := range uint32(3) {
		if reply, err := a.ask(t.Context(), model, llm.Request{Seed: 2 + seed}); err == nil || model.calls != 2 {
			t.Errorf("%d: %+v, %v, %d calls", seed, reply, err, model.calls)
		}
	}
	a.close(false)
}

// Answers of other runs stay in the file until their runs have used them.
func TestAnswersOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.heldout")
	model := &counted{}
	for _, step := range []struct {
		run   string
		whole bool
		calls int // of the model until then
		stays bool
	}{{"first", false, 1, true}, {"second", true, 2, true}, {"first", true, 2, true}, {"third", false, 3, true}} {
		a, err := openAnswers(path, step.run)
		if err != nil {
			t.Fatal(err)
		}
		if reply, err := a.ask(t.Context(), model, llm.Request{Seed: 1}); err != nil || reply.Text != "well" ||
			model.calls != step.calls {
			t.Errorf("%+v: %+v, %v, %d calls", step, reply, err, model.calls)
		}
		if err := a.close(step.whole); err != nil || exists(path) != step.stays {
			t.Errorf("%+v: %v, the file is there %v", step, err, exists(path))
		}
	}
	alone := filepath.Join(t.TempDir(), "r.heldout")
	a, err := openAnswers(alone, "run")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.ask(t.Context(), model, llm.Request{})
	if err := errors.Join(err, a.close(true)); err != nil || exists(alone) {
		t.Errorf("of one run: %v, the file is there %v", err, exists(alone))
	}
}

// An examined task asks a model for a held-out case, and takes no answer.
type examined struct {
	task.Task
	model llm.LLM
}

func (e examined) HeldOut(ctx context.Context, _ string) (eval.Result, error) {
	if _, err := llm.Ask(ctx, e.model, llm.Request{}); err != nil {
		return eval.Result{}, err
	}
	return eval.Invalid("that is no answer"), nil
}

// Answers that a held-out score is invalid by are not paid for again.
func TestInvalidHeldOutIsPaidForOnce(t *testing.T) {
	model, dir := &counted{}, t.TempDir()
	own := examined{scoredBy(t, func(context.Context, string) (eval.Result, error) {
		return eval.Result{Valid: true}, nil
	}), model}
	for range 3 {
		o := Options{Resume: exists(filepath.Join(dir, "r.journal"))}
		f, r, err := ran(t, t.Context(), &o, dir, own)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			HeldOut *result.HeldOut `json:"held_out"`
		}
		if err := f.Finish(t.Context(), Saved{Body: &body, HeldOut: &body.HeldOut}, r, nil); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if h := body.HeldOut; h == nil || h.Reason != "that is no answer" || h.Use.Calls != 1 || model.calls != 1 {
			t.Errorf("held out %+v, by %d calls", h, model.calls)
		}
	}
}

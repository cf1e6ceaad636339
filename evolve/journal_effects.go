package evolve

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// LLM returns l with every reply recorded before it is acted on, and those that are in the file given
// from there instead of asked for. Calls are known by their request and by how many like it came
// before. Wrap outermost: j.LLM(llm.Retry(llm.Limit(client, 16), ...)), so that a reply holds no place
// while it goes to disk.
//
// What stands in the file is the whole call, with all its attempts. A call that was given up because
// ctx ended, or because the model is [llm.Unavailable], is recorded with what it cost, and made again
// when the run goes on. That a call begins is recorded when it leaves the last queue on its way, if l
// announces that ([llm.Announces]), and else before l is asked.
func (j *Journal) LLM(l llm.LLM) llm.LLM { return &journaledLLM{j, l} }

type journaledLLM struct {
	j *Journal
	l llm.LLM
}

// Unwrap returns the LLM as it was.
func (w *journaledLLM) Unwrap() llm.LLM { return w.l }

func (w *journaledLLM) String() string { return fmt.Sprintf("Journal(%v)", w.l) }

func (w *journaledLLM) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	id := w.j.claim(llm.Digest(req))
	r, found, err := w.j.recall(w.j.effects, id)
	if err != nil {
		return llm.Reply{}, err
	}
	if found {
		w.j.forget(id, r.Kind) // it is never claimed again in this life
		recalled(ctx)
		return r.outcome()
	}
	if pull, ok := endedPull(ctx); ok {
		return w.j.givenUpAsThen(ctx, pull, id)
	}
	if err := w.j.awaitLive(ctx); err != nil {
		return w.j.givenUp(id, err)
	}
	return w.ask(ctx, id, req)
}

// outcome returns what a recorded call came to.
func (r *Record) outcome() (llm.Reply, error) {
	if r.Kind == RecordRefusal {
		return llm.Reply{}, &refusedError{r.Limit}
	}
	return *r.Reply, r.Error.Err()
}

// givenUp returns what a call came to that was given up in an earlier life and is given up again.
func (j *Journal) givenUp(id effectID, why error) (llm.Reply, error) {
	r, found, err := j.recall(j.aborted, id)
	if !found || err != nil || r.Reply == nil {
		return llm.Reply{}, why
	}
	j.show(id)
	return *r.Reply, &givenUpError{r.Error.Err(), why}
}

// givenUpAsThen returns what a call came to that its search itself gave up, and went on. In a pull whose
// end is in the file, every call is.
func (j *Journal) givenUpAsThen(ctx context.Context, pull int, id effectID) (llm.Reply, error) {
	r, found, err := j.recall(j.aborted, id)
	switch {
	case err != nil:
		return llm.Reply{}, err
	case !found:
		return llm.Reply{}, j.diverged(pull, id)
	}
	if h, ok := ctx.Value(holdKey{}).(*hold); ok {
		h.free = true // booked when the run began
	}
	j.show(id)
	recalled(ctx)
	return *r.Reply, r.Error.Err()
}

// A givenUpError says what was said in an earlier life, for the reason of this one.
type givenUpError struct{ then, now error }

func (e *givenUpError) Error() string { return e.then.Error() }
func (e *givenUpError) Unwrap() error { return e.now }

// ask makes the call for real.
func (w *journaledLLM) ask(ctx context.Context, id effectID, req llm.Request) (llm.Reply, error) {
	if err := admit(ctx, req); err != nil {
		return llm.Reply{}, w.j.refused(id, err)
	}
	begin := sync.OnceValue(func() error { return w.j.sends(id, req) })
	reply, err := llm.Send(llm.WithTrace(ctx, &llm.Trace{Send: begin}), w.l, req)
	reply = reply.Clean()
	record := &Record{Kind: RecordCompletion, Key: hex.EncodeToString(id.effectKey[:]), N: id.n, Reply: &reply, Error: llm.NewErrorRecord(err)}
	if err != nil && fatal(ctx, err) != nil {
		record.Kind, record.Prompt = RecordAborted, promptBound(req)
	}
	p, jerr := w.j.append(record)
	if jerr == nil {
		jerr = w.j.sync(p)
	}
	if jerr != nil {
		return reply, jerr
	}
	return reply, err
}

// sends records that a call is about to be sent, before anything is paid for.
func (j *Journal) sends(id effectID, req llm.Request) error {
	record := &Record{Kind: RecordBegin, Key: hex.EncodeToString(id.effectKey[:]), N: id.n}
	if req.MaxTokens != nil {
		record.MaxTokens = *req.MaxTokens
	}
	_, err := j.append(record)
	return err
}

// refused records that the budget had no room, if that is what err says, and returns err.
func (j *Journal) refused(id effectID, err error) error {
	var refused *refusedError
	if errors.As(err, &refused) {
		record := &Record{Kind: RecordRefusal, Key: hex.EncodeToString(id.effectKey[:]), N: id.n, Limit: refused.limit}
		if _, err := j.append(record); err != nil {
			return err
		}
	}
	return err
}

// Task returns t with every evaluation recorded, and those that are in the file given from there. The
// text of each program is recorded once.
func (j *Journal) Task(t task.Task) task.Task {
	return &journaledTask{task.WithEvaluator(t, &journaledEvaluator{j, t})}
}

// journaledTask is the task of a journal, which keeps evaluations within the budget by itself.
type journaledTask struct{ task.Task }

// Unwrap returns the task, whose optional methods hold.
func (t *journaledTask) Unwrap() task.Task { return t.Task }

func (t *journaledTask) String() string { return fmt.Sprint(t.Task) }

type journaledEvaluator struct {
	j *Journal
	e eval.Evaluator
}

func (w *journaledEvaluator) String() string { return fmt.Sprintf("Journal(%v)", w.e) }

func (w *journaledEvaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	key := evaluationKey(ctx, program)
	id := w.j.claim(key)
	r, found, err := w.j.recall(w.j.effects, id)
	if !found && err == nil {
		// A memory above that forgot asks again more or less often than it did before.
		r, found, err = w.j.recall(w.j.effects, effectID{key, 0})
	}
	switch {
	case err != nil:
		return eval.Result{}, err
	case found && r.Kind == RecordRefusal:
		return eval.Result{}, &refusedError{r.Limit}
	case found:
		recallEvaluation(ctx, r.Took)
		return *r.Result, nil
	}
	if _, ended := endedPull(ctx); w.j.final && !ended { // it was cut short then, and is again
		if err := w.j.awaitLive(ctx); err != nil {
			return eval.Result{}, err
		}
	}
	result, took, err := evaluate(ctx, w.e, program)
	if err != nil {
		return result, w.j.refused(id, err)
	}
	return result, w.j.evaluated(id, program, result, took)
}

// evaluationKey is the program, but for white space at its end. If the evaluator may score the same
// text differently, ctx says which child it is for, which keeps the two apart.
func evaluationKey(ctx context.Context, program string) effectKey {
	if address, ok := ctx.Value(addressKey{}).(string); ok {
		return hashed(program, address)
	}
	return hashed(strings.TrimRight(program, space))
}

// evaluated records a result. It need not be on disk at once: it costs no call to make it again, and
// what follows from it stands after it in the file.
func (j *Journal) evaluated(id effectID, program string, result eval.Result, took time.Duration) error {
	text := hashed(program)
	name := hex.EncodeToString(text[:])
	j.mu.Lock()
	known := j.programs[text]
	j.programs[text] = true
	j.mu.Unlock()
	if !known {
		if _, err := j.append(&Record{Kind: RecordProgram, Key: name, Text: program}); err != nil {
			return err
		}
	}
	_, err := j.append(&Record{Kind: RecordEvaluation, Key: hex.EncodeToString(id.effectKey[:]), N: id.n,
		Program: name, Result: &result, Took: took})
	return err
}

// endedKey is the context's key for the pull that calls are made in, if its end is in the journal.
type endedKey struct{}

// withEnded returns ctx for the step of a pull whose end is in the journal.
func withEnded(ctx context.Context, pull int) context.Context {
	return context.WithValue(ctx, endedKey{}, pull)
}

// endedPull returns the pull that ctx is for, if its end is in the journal.
func endedPull(ctx context.Context) (pull int, ok bool) {
	pull, ok = ctx.Value(endedKey{}).(int)
	return pull, ok
}

// addressKey is the context's key for the child that an evaluation is for.
type addressKey struct{}

// withAddress returns ctx for the evaluation of the child at address by a noisy evaluator.
func withAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

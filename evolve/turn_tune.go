package evolve

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/internal/memo"
	"github.com/evoalloc/evoalloc/llm"
)

// Tune scores program with e for a tuner, which tries many values for the numbers of a program and has one of them
// evaluated for real. In a run it recalls the result from the journal. If the journal has none, it admits the
// evaluation, makes it, records it, and books it: in Budget.TuneEvaluations and in nothing else. The same program is
// scored once in a run. What it scored for [Turn.Evaluate] does not count here, and the other way round.
//
// The result has a score, or the reason why there is none, and nothing else. A journal would otherwise be filled by
// the artifacts of programs that nobody keeps.
//
// An error for which [Refused] is true means that nothing more is to be tried. If it names TuneEvaluations as the limit,
// the tuner goes on with the best so far. That ends neither the step nor the run. Any other error means that
// the evaluation was given up, or that evaluation itself failed, which ends the run after the step. So does an evaluator
// that asks a model: the call would be one of Budget.Calls.
//
// If the Budget has EvalWorst, an evaluation that takes longer is cut off, and its program is invalid. The parts of an
// [eval.Composite] are one evaluation together.
func (t *Turn) Tune(ctx context.Context, e eval.Evaluator, program string) (eval.Result, error) {
	if !t.recording() {
		r, err := e.Evaluate(ctx, program)
		return tuneResult(r), err
	}
	if err := t.doomed(); err != nil {
		t.noteError(err)
		return eval.Result{}, err
	}
	name, known := t.programs.name(e)
	key := journal.KeyOf("tuning", name, strings.TrimRight(program, space))
	var v verdict
	var err error
	if known {
		v, err = t.programs.table.Do(ctx, memo.Key(key), func() (verdict, error) { return t.tune(ctx, key, e, program) })
	} else {
		v, err = t.tune(ctx, key, e, program)
		key = t.programs.unique(key)
	}
	if err == nil {
		t.noteScored(scoring{key: key, tuned: true})
	} else if limit, _ := Refused(err); limit == "" {
		t.noteError(err)
	}
	return v.Result, err
}

// TuneBudget returns how many tune evaluations the arm may make in the whole run: Budget.TuneEvaluations less those that the
// other arms had made when the step began. It is [math.MaxInt] for an arm stepped by hand. Those that other arms under way
// make meanwhile are not known: what a search decides by it would be another when it is made again.
func (t *Turn) TuneBudget() int {
	if !t.recording() {
		return math.MaxInt
	}
	return max(0, t.ledger.b.TuneEvaluations-t.beside)
}

// tuneResult returns what Tune keeps of a result.
func tuneResult(r eval.Result) eval.Result {
	r = r.Clean()
	return eval.Result{Valid: r.Valid, Score: r.Score, Reason: r.Reason}
}

// tune recalls a tune evaluation from the journal, or makes it within the budget and records it.
func (t *Turn) tune(ctx context.Context, key journal.Key, e eval.Evaluator, program string) (verdict, error) {
	a := &asked{}
	if t.journal != nil {
		if v, found, err := t.recallEvaluation(a, key); found || err != nil {
			return v, err
		}
		if !t.past.Ended { // as in Turn.evaluate
			if err := t.awaitLive(ctx); err != nil {
				return verdict{}, err
			}
		}
	}
	set := amounts{TuneEvaluations: 1}
	// Unlike an evaluation, which scores what was paid for, it is not begun once the run is coming to an end.
	if err := t.ledger.reserve(ctx, llm.TraceOf(ctx).Drain, set, false); err != nil {
		return verdict{}, t.recordRefusal(a, err)
	}
	worst := t.ledger.b.EvalWorst
	r, took, err := clocked(ctx, e, program, 0, worst, worst > 0, refuseToAsk)
	if err != nil {
		t.ledger.settle(set, amounts{}, nil)
		return verdict{}, err
	}
	t.ledger.settle(set, set, nil)
	r = tuneResult(r)
	if t.journal != nil {
		err = t.journal.Write(a.id, journal.Record{Kind: journal.Tuning, Result: &r, Took: took})
	}
	return verdict{Result: r}, err
}

// recordRefusal records that the budget has no room, because the tuner goes on with what it has. Which of several
// evaluations under way was refused is chance, and a resumed run has to find the same.
func (t *Turn) recordRefusal(a *asked, err error) error {
	if limit, _ := Refused(err); limit != "" && t.journal != nil {
		if bad := t.journal.Write(a.id, journal.Record{Kind: journal.Refusal, Limit: limit}); bad != nil {
			return bad
		}
	}
	return err
}

// refuseToAsk is what llm.Ask calls in a tune evaluation.
func refuseToAsk(context.Context, llm.LLM, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, errors.New("evolve: the evaluator of a Turn.Tune asks a model: its calls would count in Budget.Calls, so give the tuner one that asks none")
}

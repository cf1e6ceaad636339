package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
)

// A set is the use of cases.
type set int

const (
	train set = iota
	validation
	heldOut
)

// String returns the set's name in files of cases.
func (s set) String() string { return [...]string{"train", "validation", "held_out"}[s] }

// of returns the cases of a set.
func (c Config) of(s set) []Case { return [...][]Case{c.Train, c.Validation, c.HeldOut}[s] }

// An answer is an evaluator that scores a prompt by the target's reply to one case. Answers of the same task, case and
// sample are equal, so a run asks once.
type answer struct {
	t         *Task
	of        set
	i, sample int
}

// The names of an answer's metrics and artifacts.
const (
	artifactReply    = "reply"
	artifactFeedback = "feedback"
	metricUnanswered = "unanswered"
)

// String identifies an answer in a journal.
func (a answer) String() string {
	return fmt.Sprintf("text %s, %s %s, sample %d", a.t.Name(), a.of, a.in().ID, a.sample)
}

func (a answer) in() Case { return a.t.cfg.of(a.of)[a.i] }

// Evaluate asks the target and scores the reply.
func (a answer) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	parts, err := a.t.read(program)
	if err != nil {
		return eval.Invalid("%v", err), nil
	}
	c, req := a.in(), a.t.cfg.Request
	req.Messages = a.t.cfg.Messages(parts, c.Input)
	_, seed := stream.Seed(0, "text case "+c.ID, uint64(a.sample))
	req.Seed = uint32(seed)
	reply, err := llm.Ask(ctx, a.t.cfg.Target, req)
	if err != nil {
		if ctx.Err() == nil && byPrompt(err) {
			return a.t.unanswered(err), nil
		}
		return eval.Result{}, fmt.Errorf("text: %s: asking the target for case %q: %w", a.t.Name(), c.ID, err)
	}
	return a.t.score(ctx, c, reply.Text)
}

// byPrompt reports whether a failed call may be the prompt's fault: the target wrote for too long, refused the prompt or
// declined to answer. Any other failure is the target's.
func byPrompt(err error) bool {
	var e *llm.Error
	if errors.As(err, &e) {
		switch e.Kind {
		case llm.KindBadRequest, llm.KindContextLength, llm.KindNoAnswer:
			return true
		}
	}
	s := llm.StatusOf(err)
	return s == llm.Timeout || s == llm.Stalled
}

// unanswered returns the result of a case without a reply.
func (t *Task) unanswered(why error) eval.Result {
	return eval.Result{Valid: true, Score: t.cfg.Worst, Metrics: map[string]float64{metricUnanswered: 1},
		Artifacts: map[string]string{artifactFeedback: clip("there was no reply: " + why.Error())}}
}

// score scores a reply.
func (t *Task) score(ctx context.Context, c Case, reply string) (r eval.Result, err error) {
	var feedback string
	if t.cfg.Scorer != nil {
		r.Score, feedback, err = t.byScorer(ctx, c, reply)
	} else {
		r.Score, feedback, err = t.byScore(c, reply)
	}
	if err != nil {
		return eval.Result{}, err
	}
	if math.IsNaN(r.Score) || math.IsInf(r.Score, 0) {
		return eval.Invalid("the score of case %q is %v, not a finite number", c.ID, r.Score), nil
	}
	r.Valid = true
	r.Artifacts = map[string]string{artifactReply: clip(reply), artifactFeedback: clip(feedback)}
	return r, nil
}

// byScore calls Score. A panic is the function's fault and not the prompt's, so it becomes an error that ends the run,
// which can be resumed with its replies once the function is repaired.
func (t *Task) byScore(c Case, reply string) (score float64, feedback string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("text: %s: Config.Score panicked on case %q: %v\n%s", t.Name(), c.ID, v, debug.Stack())
		}
	}()
	score, feedback = t.cfg.Score(c, reply)
	return score, feedback, nil
}

// maxField bounds an input, a reply and its feedback, as kept and shown, in bytes.
const maxField = 1000

// clip returns s as storable text, cut to its beginning and end if it is long.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
	if len(s) <= maxField {
		return s
	}
	const half = (maxField - 5) / 2
	return strings.ToValidUTF8(s[:half], "") + " ... " + strings.ToValidUTF8(s[len(s)-half:], "")
}

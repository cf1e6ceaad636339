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

// A set is what cases are used for.
type set int

const (
	train set = iota
	validation
	heldOut
)

// String names the set as files of cases do.
func (s set) String() string { return [...]string{"train", "validation", "held_out"}[s] }

// of returns the cases of a set.
func (c Config) of(s set) []Case { return [...][]Case{c.Train, c.Validation, c.HeldOut}[s] }

// An answer scores a prompt by the target's reply to one case. It is equal to others of the same task, case and sample,
// so a run asks once.
type answer struct {
	t         *Task
	of        set
	i, sample int
}

// The names of what an answer's result has.
const (
	artifactReply    = "reply"
	artifactFeedback = "feedback"
	metricUnanswered = "unanswered"
)

// String tells the answers of a journal apart.
func (a answer) String() string {
	return fmt.Sprintf("text %s, %s %s, sample %d", a.t.Name(), a.of, a.in().ID, a.sample)
}

func (a answer) in() Case { return a.t.cfg.of(a.of)[a.i] }

// Evaluate asks the target and scores what it says.
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

// byPrompt reports whether a failed call may be the prompt's fault: it makes the target write for too long, or is not
// accepted. Any other failure is the target's.
func byPrompt(err error) bool {
	var e *llm.Error
	if errors.As(err, &e) && (e.Kind == llm.KindBadRequest || e.Kind == llm.KindContextLength) {
		return true
	}
	s := llm.StatusOf(err)
	return s == llm.Timeout || s == llm.Stalled
}

// unanswered is the result of a case without a reply.
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

// byScore calls Score. A panic is a fault of the function and not of the prompt: it is an error, so that the run ends, and
// goes on with the replies that it has once the function is mended.
func (t *Task) byScore(c Case, reply string) (score float64, feedback string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("text: %s: Config.Score panicked on case %q: %v\n%s", t.Name(), c.ID, v, debug.Stack())
		}
	}()
	score, feedback = t.cfg.Score(c, reply)
	return score, feedback, nil
}

// maxField is how many bytes of an input, of a reply and of its feedback are kept and shown.
const maxField = 1000

// clip returns s, or its beginning and end if it is long, as text that can be kept.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
	if len(s) <= maxField {
		return s
	}
	const half = (maxField - 5) / 2
	return strings.ToValidUTF8(s[:half], "") + " ... " + strings.ToValidUTF8(s[len(s)-half:], "")
}

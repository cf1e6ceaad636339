package step

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// begin returns a step of a run without a journal, in which passed says which limit amounts would pass.
func begin(passed func(Amounts) string) *Step {
	return &Step{Run: &Run{Ledger: NewLedger(Limits{Passed: passed, Stalls: -1}, Amounts{}),
		Programs: NewPrograms()},
		Over: func() bool { return false }, Failing: &Streak{}}
}

func free(Amounts) string { return "" }

var answering = llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: "yes", Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
})

// A scale scores each program by its length, and prints itself.
type scale struct{ made *int }

func (s scale) Evaluate(_ context.Context, program string) (eval.Result, error) {
	*s.made++
	return eval.Result{Valid: true, Score: float64(len(program))}, nil
}

func (scale) String() string { return "scale" }

// What a session asks for is noted in its step and in that of its child.
func TestStepOfASession(t *testing.T) {
	outer := begin(free)
	inner := outer.inside(2)
	if _, err := inner.Ask(t.Context(), "judge", answering, llm.Request{}); err != nil {
		t.Fatal(err)
	}
	made := 0
	for range 2 { // once in the run
		if r, err := inner.Evaluate(t.Context(), scale{&made}, "abc\n", 0); err != nil || r.Score != 4 {
			t.Errorf("scored %+v, %v", r, err)
		}
	}
	inner.Tell(Address{Index: 1, ID: 7})
	inner.Timed(1500 * time.Microsecond)
	for _, s := range []*Step{inner, outer} {
		a := s.Account()
		if len(a.Calls) != 1 || a.Calls[0].Kind != "judge" || len(a.Scored) != 2 || !a.Told[Address{Index: 1, ID: 7}] ||
			len(a.Took) != 1 || a.Took[0] != time.Millisecond {
			t.Errorf("noted %+v", a)
		}
	}
	if spent, _ := outer.Ledger.Sums(); made != 1 || spent.Evaluations != 1 || spent.Calls != 1 {
		t.Errorf("%d evaluations made, spent %+v", made, spent)
	}
}

// Of the limits that left no room the first by name is noted, whichever came first.
func TestLimitThatIsNoted(t *testing.T) {
	limit := ""
	s := begin(func(Amounts) string { return limit })
	for _, limit = range []string{"Tokens", "Money", "Stalls"} {
		if _, err := s.Ask(t.Context(), "judge", answering, llm.Request{}); err == nil {
			t.Errorf("%s has room", limit)
		}
	}
	if a := s.Account(); a.Limit != "Money" || a.Cut || a.Fatal != nil || len(a.Calls) != 0 {
		t.Errorf("noted %+v", a)
	}
}

// After a fault a step asks for nothing new, but scores what it has a reply for, unless nothing can be scored any more.
func TestStepsDrain(t *testing.T) {
	for _, tt := range []struct {
		fault  error
		scores bool
		reason string
	}{
		{errors.New("an archive is broken"), true, "of the search"},
		{&EvaluationError{Why: errors.New("the interpreter is gone")}, false, "of the evaluator"},
	} {
		s, made := begin(free), 0
		s.Drain(tt.fault)
		if _, err := s.Ask(t.Context(), "judge", answering, llm.Request{}); !errors.Is(err, tt.fault) ||
			!errors.Is(err, llm.ErrDraining) {
			t.Errorf("%s: asked after it: %v", tt.reason, err)
		}
		if _, err := s.Evaluate(t.Context(), scale{&made}, "abc", 0); !errors.Is(err, tt.fault) {
			t.Errorf("%s: evaluated after it: %v", tt.reason, err)
		}
		if _, err := s.Score(t.Context(), scale{&made}, "abc", 0); (err == nil) != tt.scores || (made == 1) != tt.scores {
			t.Errorf("%s: a child is scored: %v, %d evaluations", tt.reason, err, made)
		}
	}
}

// Nothing is limited or noted without a run.
func TestByHand(t *testing.T) {
	var none *Step
	w, made := none.Session(3, answering, scale{new(int)}, 0, Turn{Done: func() {}}), 0
	program, recalled, err := w.Do(t.Context(), func(ctx context.Context) (string, error) {
		reply, err := w.Ask(ctx, "agent", nil, llm.Request{})
		if _, bad := w.Tune(ctx, scale{&made}, "ab"); bad != nil {
			return "", bad
		}
		return reply.Text, err
	})
	if err != nil || recalled || program != "yes" || !w.Spent() || made != 1 || none.TuneBudget() != math.MaxInt {
		t.Errorf("%q, %v, %v", program, recalled, err)
	}
}

// What is booked when an attempt ends is as plausible as what the reply says of it, and it is not booked twice.
func TestAttemptsAreCleanWhenTheyEnd(t *testing.T) {
	s := begin(free)
	s.Ledger.Prices = Prices{{Key: "m", ActiveParams: 1}}
	long := strings.Repeat("x ", 1<<16)
	model := llm.Func(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
		trace := llm.TraceOf(ctx)
		if err := trace.Send("m"); err != nil {
			return llm.Reply{}, err
		}
		a := llm.Attempt{Status: llm.Timeout, Err: long, MaxTokens: math.MaxInt, Money: math.NaN()}
		trace.Ended([]llm.Attempt{a})
		return llm.Reply{Attempts: []llm.Attempt{a}}, &llm.Error{Status: llm.Timeout, Err: context.DeadlineExceeded}
	})
	reply, err := s.Ask(t.Context(), "judge", announcing{model}, llm.Request{})
	if err == nil || len(reply.Attempts) != 1 {
		t.Fatalf("%+v, %v", reply, err)
	}
	if spent, reserved := s.Ledger.Sums(); spent.FLOPs != 2<<30 || reserved != (Amounts{}) {
		t.Errorf("spent %+v, set aside %+v", spent, reserved)
	}
}

// An announcing model tells the Trace of its attempts itself.
type announcing struct{ llm.LLM }

func (announcing) Announces() bool { return true }

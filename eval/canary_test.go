package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// drifting scores programs by their length, and from the evaluation of number from on with something added.
type drifting struct {
	from, n atomic.Int64
	by      float64
	bad     string
	fails   error
}

func (d *drifting) Evaluate(_ context.Context, program string) (Result, error) {
	score := float64(len(program))
	if n := d.n.Add(1); d.from.Load() == 0 || n < d.from.Load() {
		return Result{Valid: true, Score: score}, nil
	}
	switch {
	case d.fails != nil:
		return Result{}, d.fails
	case d.bad != "":
		return Invalid("%s", d.bad), nil
	}
	return Result{Valid: true, Score: score + d.by}, nil
}

func (d *drifting) String() string { return "drifting" }

// evaluations makes n of them, and returns how many came before the first error, and that.
func evaluations(t *testing.T, e Evaluator, n int) (int, error) {
	t.Helper()
	for i := range n {
		if _, err := e.Evaluate(t.Context(), strings.Repeat("x", i)); err != nil {
			return i, err
		}
	}
	return n, nil
}

func TestCanaryStopsADriftingEvaluator(t *testing.T) {
	for _, tt := range []struct {
		reason string
		e      *drifting
		from   int64
		after  int
		want   []string
	}{
		{"wrong from the start", &drifting{by: 1}, 1, 0,
			[]string{`the canary "abc" (8 bytes) should score 8 within 0.5, and scored 9 before the first evaluation: repair`}},
		// The canary is the 1st, 12th, 23rd, ... that the evaluator sees.
		{"drifts between canaries", &drifting{by: 1}, 15, 20,
			[]string{"scored 9 after 20 evaluations, of which the last 10 came after it last passed and may have wrong scores",
				"repair the evaluator"}},
		{"by less than the tolerance", &drifting{by: 0.4}, 15, 50, nil},
		{"downwards", &drifting{by: -1}, 15, 20, []string{"scored 7 after 20"}},
		{"calls it invalid", &drifting{bad: "no numpy"}, 15, 20, []string{"is invalid (no numpy) after 20"}},
	} {
		tt.e.from.Store(tt.from)
		e := WithCanaries(tt.e, Canary{Program: "abc\ndefg", Score: 8, Tolerance: 0.5, Every: 10})
		n, err := evaluations(t, e, 50)
		if n != tt.after || errors.Is(err, ErrDrift) != (tt.want != nil) {
			t.Errorf("%s: %v after %d evaluations, want one after %d", tt.reason, err, n, tt.after)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v: want %q", tt.reason, err, want)
			}
		}
		seen := tt.e.n.Load()
		if again, bad := evaluations(t, e, 3); err != nil &&
			(again != 0 || !errors.Is(bad, ErrDrift) || tt.e.n.Load() != seen) {
			t.Errorf("%s: after the error, %d evaluations and %v: want the same error at once", tt.reason, again, bad)
		}
	}
}

// An evaluator that cannot be reached for a moment has not drifted.
func TestCanaryErrorIsNotDrift(t *testing.T) {
	gone := errors.New("connection refused")
	d := &drifting{fails: gone}
	e := WithCanaries(d, Canary{Program: "x", Score: 1, Every: 2})
	d.from.Store(4)
	if n, err := evaluations(t, e, 9); n != 2 || !errors.Is(err, gone) || errors.Is(err, ErrDrift) {
		t.Fatalf("%v after %d, want the evaluator's own error after 2", err, n)
	}
	d.from.Store(0)
	if n, err := evaluations(t, e, 9); n != 9 {
		t.Errorf("mended: %v after %d", err, n)
	}
}

// However many evaluations are under way, none begins before the first canary is right, every tenth waits for the next
// one, and after a drift none begins.
func TestCanariesUnderConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var programs, canaries, early atomic.Int64
		slow := Func(func(_ context.Context, program string) (Result, error) {
			if program == "canary" {
				time.Sleep(time.Second)
				if canaries.Add(1) == 4 {
					return Result{Valid: true, Score: 2}, nil
				}
				return Result{Valid: true, Score: 1}, nil
			}
			if canaries.Load() == 0 {
				early.Add(1)
			}
			programs.Add(1)
			time.Sleep(time.Second)
			return Result{Valid: true}, nil
		})
		e := WithCanaries(slow, Canary{Program: "canary", Score: 1, Every: 10})
		var drifted atomic.Int64
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := e.Evaluate(t.Context(), "x"); errors.Is(err, ErrDrift) {
					drifted.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if programs.Load() != 30 || canaries.Load() != 4 || drifted.Load() != 70 || early.Load() != 0 {
			t.Errorf("%d evaluations, %d of them early, %d canaries, %d refused: want 30, 0, 4 and 70", programs.Load(),
				early.Load(), canaries.Load(), drifted.Load())
		}
	})
}

// Whose context ends while it scores a canary leaves that to the next one.
func TestCanaryAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := WithCanaries(Func(func(ctx context.Context, program string) (Result, error) {
			select {
			case <-time.After(time.Minute):
				return Result{Valid: true, Score: 1}, nil
			case <-ctx.Done():
				return Result{}, ctx.Err()
			}
		}), Canary{Program: "canary", Score: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, err := e.Evaluate(ctx, ""); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDrift) {
					t.Errorf("given up: %v", err)
				}
			})
		}
		wg.Wait()
		if _, err := e.Evaluate(t.Context(), ""); err != nil {
			t.Error(err)
		}
	})
}

// The time of a canary is not the program's that waits for it.
func TestCanaryTakesNoneOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := WithCanaries(Func(func(context.Context, string) (Result, error) {
			time.Sleep(time.Minute)
			return Result{Valid: true, Score: 1}, nil
		}), Canary{Program: "canary", Score: 1})
		var waited time.Duration
		queued := func() func() {
			begin := time.Now()
			return func() { waited += time.Since(begin) }
		}
		if _, err := e.Evaluate(llm.WithTrace(t.Context(), &llm.Trace{Queued: queued}), "x"); err != nil ||
			waited != time.Minute {
			t.Errorf("%v, waited %v, want a minute", err, waited)
		}
	})
}

func TestCheckScoresCanariesNow(t *testing.T) {
	d := &drifting{by: 1}
	e := WithCanaries(d, Canary{Program: "abc", Score: 3, Every: 5}, Canary{Program: "x", Score: 1, Every: 1000})
	check := e.(interface{ Check(context.Context) error }).Check
	if err := check(t.Context()); err != nil || d.n.Load() != 2 {
		t.Fatalf("%v after %d evaluations, want 2", err, d.n.Load())
	}
	if n, err := evaluations(t, e, 5); n != 5 || d.n.Load() != 7 {
		t.Errorf("%v, %d evaluations: want none of a canary after the check", err, d.n.Load())
	}
	d.from.Store(1)
	if err := check(t.Context()); !errors.Is(err, ErrDrift) {
		t.Errorf("after a drift: %v", err)
	}
}

// counted is a Composite whose parts count how many are under way.
type counted struct{ now, most, all *atomic.Int64 }

type countedPart struct {
	of counted
	i  int
}

func (c counted) Evaluate(ctx context.Context, program string) (Result, error) {
	return Compose(ctx, c, program)
}
func (c counted) Parts(string, int) (parts []Evaluator, err error) {
	for i := range 6 {
		parts = append(parts, countedPart{c, i})
	}
	return parts, nil
}
func (c counted) Join(_ string, parts []Result) (r Result, err error) {
	for _, p := range parts {
		r.Score += p.Score
	}
	r.Valid = true
	return r, nil
}
func (c countedPart) Evaluate(context.Context, string) (Result, error) {
	c.of.all.Add(1)
	if n := c.of.now.Add(1); n > c.of.most.Load() {
		c.of.most.Store(n)
	}
	time.Sleep(time.Second)
	c.of.now.Add(-1)
	return Result{Valid: true, Score: float64(c.i)}, nil
}
func (c countedPart) String() string { return fmt.Sprint("part ", c.i) }

// Parts are guarded by themselves, equal ones are equal values, and a limit holds on either side of the canaries.
func TestCanariesOfAComposite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		canary := Canary{Program: "canary", Score: 15, Every: 6}
		for name, around := range map[string]func(Evaluator) Evaluator{
			"limit within":  func(e Evaluator) Evaluator { return WithCanaries(Limit(e, 2), canary) },
			"limit around":  func(e Evaluator) Evaluator { return Limit(WithCanaries(e, canary), 2) },
			"canaries both": func(e Evaluator) Evaluator { return WithCanaries(Limit(WithCanaries(e, canary), 2), canary) },
		} {
			c := counted{new(atomic.Int64), new(atomic.Int64), new(atomic.Int64)}
			e := around(c)
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					if r, err := e.Evaluate(t.Context(), "x"); err != nil || r.Score != 15 {
						t.Errorf("%s: %v, %v", name, r, err)
					}
				})
			}
			wg.Wait()
			if c.most.Load() > 2 || name != "canaries both" && c.all.Load() != 6*(3+3) {
				t.Errorf("%s: %d at once, %d parts evaluated, want 2 and 36", name, c.most.Load(), c.all.Load())
			}
			one, err := e.(Composite).Parts("x", 0)
			two, err2 := e.(Composite).Parts("x", 0)
			if err != nil || err2 != nil || one[3] != two[3] || one[3] == one[4] || fmt.Sprint(one[3]) != "part 3" {
				t.Errorf("%s: parts %v and %v", name, one[3], two[3])
			}
		}
	})
}

func TestCanaryPrintsAsTheEvaluator(t *testing.T) {
	if s := fmt.Sprint(WithCanaries(&drifting{}, Canary{Program: "x", Score: 1})); s != "drifting" {
		t.Errorf("prints as %s", s)
	}
}

func TestWrongCanaries(t *testing.T) {
	nan := 0.0
	nan /= nan
	for want, list := range map[string][]Canary{
		"without a canary":        nil,
		"canary 0: its Program":   {{Score: 1}},
		"canary 1: its Score":     {{Program: "x"}, {Program: "y", Score: nan}},
		"its Tolerance is -1":     {{Program: "x", Tolerance: -1}},
		"its Tolerance is NaN":    {{Program: "x", Tolerance: nan}},
		"its Every is -1: need 0": {{Program: "x", Every: -1}},
	} {
		func() {
			defer func() {
				if v := recover(); !strings.Contains(fmt.Sprint(v), want) {
					t.Errorf("panic %v, want %q", v, want)
				}
			}()
			WithCanaries(&drifting{}, list...)
		}()
	}
}

func ExampleWithCanaries() {
	evaluations := 0
	worn := Func(func(_ context.Context, program string) (Result, error) {
		evaluations++
		return Result{Valid: true, Score: float64(len(program) + evaluations/5)}, nil
	})
	e := WithCanaries(worn, Canary{Program: "known", Score: 5, Every: 4})
	for i := range 10 {
		if _, err := e.Evaluate(context.Background(), "a program"); err != nil {
			fmt.Println(i, "evaluations:", err)
			return
		}
	}
	// Output:
	// 4 evaluations: eval: the evaluator has drifted: the canary "known" (5 bytes) should score 5 within 0, and scored 6 after 4 evaluations, of which the last 4 came after it last passed and may have wrong scores: repair the evaluator and resume, or correct the canary if its score is wrong
}

// keeping returns a result that it keeps of a sample.
type keeping struct {
	*drifting
	kept map[string]Result
}

func (k keeping) EvaluateSample(ctx context.Context, program string, sample int) (r Result, err error) {
	key := fmt.Sprint(sample, " ", program)
	r, ok := k.kept[key]
	if !ok {
		r, err = k.drifting.Evaluate(ctx, program)
		k.kept[key] = r
	}
	return r, err
}

// An evaluator that keeps results, also of other runs, is asked for a canary anew each time.
func TestCanaryIsEvaluatedAnew(t *testing.T) {
	k := keeping{&drifting{by: 1}, map[string]Result{"0 x": {Valid: true, Score: 1}}}
	k.from.Store(15)
	e := WithCanaries(k, Canary{Program: "x", Score: 1, Every: 10})
	if n, err := evaluations(t, e, 50); n != 20 || !errors.Is(err, ErrDrift) {
		t.Errorf("%v after %d evaluations, want a drift after 20", err, n)
	}
}

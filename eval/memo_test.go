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

	"github.com/google/go-cmp/cmp"
)

// slow is an Evaluator that takes a second, and counts.
type slow struct {
	n    atomic.Int64
	fail func(n int64) error // for the nth evaluation, from 1; nil means none fails
}

func (s *slow) Evaluate(ctx context.Context, program string) (Result, error) {
	n := s.n.Add(1)
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	if s.fail != nil {
		if err := s.fail(n); err != nil {
			return Result{}, err
		}
	}
	return Result{Valid: true, Score: float64(len(strings.TrimSpace(program))), Metrics: map[string]float64{"n": float64(n)}, Cases: []float64{1}}, nil
}

func (s *slow) String() string { return "slow" }

func TestMemoRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		m := Memo(s)
		for i, c := range []struct {
			why, program string
			evaluations  int64
		}{
			{"new", "a", 1},
			{"the same", "a", 1},
			{"the same but for space at the end", "a \t\r\n\n", 1},
			{"space in front is another program", " a", 2},
			{"another", "b", 3},
			{"no program", "", 4},
			{"only space is no program", "\n\n", 4},
			{"the first again", "a\n", 4},
		} {
			r, err := m.Evaluate(t.Context(), c.program)
			if err != nil || !r.Valid || s.n.Load() != c.evaluations {
				t.Errorf("%d, %s: result %v, error %v after %d evaluations, want %d", i, c.why, r, err, s.n.Load(), c.evaluations)
			}
		}
	})
}

func TestMemoResultsAreTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Memo(&slow{})
		first, _ := m.Evaluate(t.Context(), "a")
		want := first.Clone()
		first.Metrics["n"] = 99
		first.Cases[0] = 99
		second, _ := m.Evaluate(t.Context(), "a")
		if diff := cmp.Diff(want, second); diff != "" {
			t.Errorf("a caller's change to its result reached another (-want +got):\n%s", diff)
		}
	})
}

func TestMemoSharesOneEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		m := Memo(s)
		start := time.Now()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if r, err := m.Evaluate(t.Context(), "a"); err != nil || r.Score != 1 {
					t.Errorf("result %v, error %v", r, err)
				}
			})
		}
		wg.Wait()
		if n, took := s.n.Load(), time.Since(start); n != 1 || took != time.Second {
			t.Errorf("%d evaluations took %v, want one in 1s", n, took)
		}
	})
}

func TestMemoFirstCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		m := Memo(s)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := m.Evaluate(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first caller got error %v, want its context's", err)
			}
		})
		synctest.Wait()
		start := time.Now()
		for range 10 {
			wg.Go(func() {
				if r, err := m.Evaluate(t.Context(), "a"); err != nil || r.Score != 1 {
					t.Errorf("another caller got %v, error %v", r, err)
				}
			})
		}
		wg.Wait()
		if n, took := s.n.Load(), time.Since(start); n != 2 || took != 1500*time.Millisecond {
			t.Errorf("%d evaluations took %v, want 2 in 1.5s", n, took)
		}
	})
}

func TestMemoWaitingCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		m := Memo(s)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := m.Evaluate(t.Context(), "a"); err != nil {
				t.Errorf("the first caller got error %v", err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := m.Evaluate(ctx, "a")
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Millisecond {
			t.Errorf("error %v after %v, want the context's after 1ms", err, took)
		}
		wg.Wait()
		if n := s.n.Load(); n != 1 {
			t.Errorf("%d evaluations, want 1", n)
		}
	})
}

func TestMemoForgetsErrors(t *testing.T) {
	broken := errors.New("no interpreter")
	synctest.Test(t, func(t *testing.T) {
		s := &slow{fail: func(n int64) error {
			if n == 1 {
				return broken
			}
			return nil
		}}
		m := Memo(s)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := m.Evaluate(t.Context(), "a"); !errors.Is(err, broken) {
					t.Errorf("error %v, want the evaluator's", err)
				}
			})
		}
		wg.Wait()
		if r, err := m.Evaluate(t.Context(), "a"); err != nil || !r.Valid || s.n.Load() != 2 {
			t.Errorf("after the error: %v, error %v, %d evaluations", r, err, s.n.Load())
		}
	})
}

func TestMemoSurvivesPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{fail: func(n int64) error {
			if n == 1 {
				panic("first")
			}
			return nil
		}}
		m := Memo(s)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the evaluator's panic did not reach its caller")
				}
			}()
			_, _ = m.Evaluate(t.Context(), "a")
		})
		synctest.Wait()
		if r, err := m.Evaluate(t.Context(), "a"); err != nil || !r.Valid {
			t.Errorf("the caller that waited got %v, error %v", r, err)
		}
		wg.Wait()
	})
}

func TestMemoIsBounded(t *testing.T) {
	evaluations := 0
	m := Memo(Func(func(_ context.Context, program string) (Result, error) {
		evaluations++
		return Result{Valid: true, Artifacts: map[string]string{"log": strings.Repeat(program[:1], 1<<20)}}, nil
	}))
	ask := func(i int) {
		if _, err := m.Evaluate(t.Context(), fmt.Sprintf("%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		ask(i)
	}
	if ask(199); evaluations != 200 {
		t.Error("the youngest result was forgotten")
	}
	if ask(0); evaluations != 201 {
		t.Error("the oldest result was kept")
	}
}

func TestMemoOfOneThatIsTooLarge(t *testing.T) {
	evaluations := 0
	m := Memo(Func(func(context.Context, string) (Result, error) {
		evaluations++
		return Result{Valid: true, Artifacts: map[string]string{"log": strings.Repeat("x", memoBytes)}}, nil
	}))
	for range 2 {
		if r, err := m.Evaluate(t.Context(), "a"); err != nil || len(r.Artifacts["log"]) != memoBytes {
			t.Fatalf("error %v, %d bytes", err, len(r.Artifacts["log"]))
		}
	}
	if evaluations != 2 {
		t.Errorf("%d evaluations, want 2: the result does not fit", evaluations)
	}
}

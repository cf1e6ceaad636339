package memo

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slow remembers 1 for each key, which takes a second to compute, and counts.
type slow struct {
	table *Table[int]
	n     atomic.Int64
	fail  func(n int64) error // for the nth computation, from 1; nil means none fails
}

func newSlow(fail func(n int64) error) *slow {
	return &slow{table: New(1000, func(int) int { return 1 }), fail: fail}
}

func (s *slow) ask(ctx context.Context, name string) (int, error) {
	var k Key
	copy(k[:], name)
	return s.table.Do(ctx, k, func() (int, error) {
		n := s.n.Add(1)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if s.fail != nil {
			if err := s.fail(n); err != nil {
				return 0, err
			}
		}
		return 1, nil
	})
}

func TestOneComputationIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(nil)
		start := time.Now()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if r, err := s.ask(t.Context(), "a"); err != nil || r != 1 {
					t.Errorf("result %v, error %v", r, err)
				}
			})
		}
		wg.Wait()
		if n, took := s.n.Load(), time.Since(start); n != 1 || took != time.Second {
			t.Errorf("%d computations took %v, want one in 1s", n, took)
		}
	})
}

func TestFirstCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(nil)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.ask(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first caller got error %v, want its context's", err)
			}
		})
		synctest.Wait()
		start := time.Now()
		for range 10 {
			wg.Go(func() {
				if r, err := s.ask(t.Context(), "a"); err != nil || r != 1 {
					t.Errorf("another caller got %v, error %v", r, err)
				}
			})
		}
		wg.Wait()
		if n, took := s.n.Load(), time.Since(start); n != 2 || took != 1500*time.Millisecond {
			t.Errorf("%d computations took %v, want 2 in 1.5s", n, took)
		}
	})
}

func TestWaitingCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.ask(t.Context(), "a"); err != nil {
				t.Errorf("the first caller got error %v", err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := s.ask(ctx, "a")
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Millisecond {
			t.Errorf("error %v after %v, want the context's after 1ms", err, took)
		}
		wg.Wait()
		if n := s.n.Load(); n != 1 {
			t.Errorf("%d computations, want 1", n)
		}
	})
}

func TestSharedErrorsAreForgotten(t *testing.T) {
	broken := errors.New("no interpreter")
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(func(n int64) error {
			if n == 1 {
				return broken
			}
			return nil
		})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := s.ask(t.Context(), "a"); !errors.Is(err, broken) {
					t.Errorf("error %v, want the computation's", err)
				}
			})
		}
		wg.Wait()
		if r, err := s.ask(t.Context(), "a"); err != nil || r != 1 || s.n.Load() != 2 {
			t.Errorf("after the error: %v, error %v, %d computations", r, err, s.n.Load())
		}
	})
}

func TestPanicsAreSurvived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(func(n int64) error {
			if n == 1 {
				panic("first")
			}
			return nil
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the computation's panic did not reach its caller")
				}
			}()
			_, _ = s.ask(t.Context(), "a")
		})
		synctest.Wait()
		if r, err := s.ask(t.Context(), "a"); err != nil || r != 1 {
			t.Errorf("the caller that waited got %v, error %v", r, err)
		}
		wg.Wait()
	})
}

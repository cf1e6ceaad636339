package llmtest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The number in flight, by hand:
//
//	from  0s to 1s: 1    arrives at 0s, leaves at 4s
//	from  1s to 3s: 2    arrives at 1s, leaves at 3s
//	from  3s to 4s: 1
//	from  4s to 6s: 0
//	from  6s to 9s: 1    arrives at 6s, leaves at 9s: the last one sent
func TestBusyIsTheExactIntegral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter()
		if s := m.stats(); s.Busy != 0 || s.Held != 0 {
			t.Errorf("before the first request: %+v", s)
		}
		time.Sleep(time.Hour) // before the first request does not count
		a := m.enter()
		if s := m.stats(); s.Busy != 0 {
			t.Errorf("after one request: busy %v, want 0", s.Busy)
		}
		time.Sleep(time.Second)
		b := m.enter()
		time.Sleep(2 * time.Second)
		m.leave(b)
		time.Sleep(time.Second)
		m.leave(a)
		time.Sleep(2 * time.Second)
		c := m.enter()
		time.Sleep(3 * time.Second)
		if s := m.stats(); s.InFlight != 1 || s.Held != 9*time.Second {
			t.Errorf("under way: %+v, want 1 in flight and 9s held", s)
		}
		m.leave(c)
		time.Sleep(time.Hour) // nor does what comes after the last
		s := m.stats()
		if s.Busy != 1 || s.Held != 9*time.Second || s.MaxInFlight != 2 || s.Calls != 3 || s.InFlight != 0 {
			t.Errorf("%+v, want 6s over 6s until the last was sent, 9s held, 2 at most, 3 calls", s)
		}
	})
}

func TestStatsAreACopy(t *testing.T) {
	m := newMeter()
	v := m.enter()
	m.left(departure{})
	m.leave(v)
	s := m.stats()
	s.Faults[hang], s.Ended[left], s.Gone[0].Seed = 7, 7, 7
	if s := m.stats(); s.Faults[hang] != 0 || s.Ended[left] != 0 || s.Gone[0].Seed != 0 {
		t.Errorf("a caller changed the counts: %+v", s)
	}
}

func TestDrainEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter()
		v := m.enter()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		m.leave(v)
		if err := m.drain(ctx); err != nil {
			t.Errorf("nothing in flight, error %v", err)
		}
	})
}

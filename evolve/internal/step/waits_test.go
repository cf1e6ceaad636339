package step

import (
	"testing"
	"testing/synctest"
	"time"
)

// The time in which an evaluation waits, in several queues at once too, counts neither for it nor for its limit.
func TestStopwatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		w := StartWatch(func() { close(ended) }, 10*time.Second)
		time.Sleep(3 * time.Second)
		one := w.Queued()
		time.Sleep(time.Minute)
		two := w.Queued()
		one()
		time.Sleep(time.Minute)
		two()
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if Closed(ended) {
			t.Error("it was ended after 7 s of 10")
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if !Closed(ended) {
			t.Error("it was not ended after 10 s of 10")
		}
		if took := w.Stop(); took != 10*time.Second {
			t.Errorf("it took %v, want 10s", took)
		}
	})
}

// A watch that is stopped while its evaluation waits has the time before that, and ends nothing.
func TestStopwatchStopsInAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := StartWatch(func() { t.Error("it was ended") }, 2*time.Second)
		time.Sleep(time.Second)
		w.Queued()
		time.Sleep(time.Minute)
		if took := w.Stop(); took != time.Second {
			t.Errorf("it took %v, want 1s", took)
		}
		time.Sleep(time.Minute)
	})
}

func TestSignalKeepsOne(t *testing.T) {
	s := NewSignal()
	s.Set()
	s.Set()
	<-s
	select {
	case <-s:
		t.Error("it happened again")
	default:
	}
}

func TestCount(t *testing.T) {
	var c Count
	one, two := c.Begin(), c.Begin()
	one()
	if c.N() != 1 {
		t.Errorf("%d wait, want 1", c.N())
	}
	two()
	if c.N() != 0 {
		t.Errorf("%d wait, want 0", c.N())
	}
}

package view

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"
)

// Pages are read while records come in. It is for the race detector, and checks that no page sees a column that is
// longer than another.
func TestStateWhileRecordsComeIn(t *testing.T) {
	l := newLog("1", "made")
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			var from rowCursor
			for {
				s := l.State(from)
				lengths := []int{len(s.Children.Arm), len(s.Children.Score), len(s.Children.Program), len(s.Children.Money),
					len(s.Children.Parents)}
				if slices.Min(lengths) != slices.Max(lengths) {
					t.Errorf("columns of %v rows", lengths)
				}
				if n := len(s.Line); n > 1 {
					l.Diff(s.Line[0].Program, s.Line[n-1].Program)
				}
				from = s.Next
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond): // no page asks without a pause
				}
			}
		})
	}
	madeRecords(400, programLines, l.Add)
	var page bytes.Buffer
	if err := render(&page, pageData{Runs: []runState{l.State(rowCursor{})}}); err != nil {
		t.Error(err)
	}
	close(done)
	readers.Wait()
	if n := len(l.State(rowCursor{}).Children.ID); n != 400 {
		t.Errorf("%d children, want 400", n)
	}
}

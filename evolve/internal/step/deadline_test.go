package step

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSteps(t *testing.T) {
	gone := errors.New("the caller has gone")
	for _, tt := range []struct {
		reason       string
		grace, limit time.Duration
		live         time.Duration // when replay is over
		took         time.Duration // by earlier incarnations
		over         bool
		leave        time.Duration // when the caller goes; 0 for never
		want         time.Duration // when the steps end
		why          error
	}{
		{"the time is over", 0, 10, 0, 0, false, 0, 10, ErrWallTime},
		{"earlier incarnations took some of it", 0, 10, 0, 7, false, 0, 3, ErrWallTime},
		{"replay does not end by time that was used up before", 0, 10, 4, 12, false, 0, 4, ErrWallTime},
		{"a run that was over takes no time", 0, 10, 0, 12, true, 60, 60, gone},
		{"the caller goes", 0, 0, 0, 0, false, 5, 5, gone},
		{"the caller goes, and what is under way may end", 3, 0, 0, 0, false, 5, 8, gone},
		{"the time is over within the grace period", 8, 10, 0, 0, false, 5, 10, gone},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			if tt.leave > 0 {
				time.AfterFunc(tt.leave*time.Second, func() { leave(gone) })
			}
			live := make(chan struct{})
			time.AfterFunc(tt.live*time.Second, func() { close(live) })
			steps, end := Clock{Grace: tt.grace * time.Second, Limit: tt.limit * time.Second, Live: live,
				Elapsed: func() (time.Duration, bool) { return tt.took * time.Second, !tt.over }}.Steps(ctx)
			<-steps.Done()
			if took := time.Since(begun); took != tt.want*time.Second || context.Cause(steps) != tt.why {
				t.Errorf("%s: ended after %v by %v, want %ds and %v", tt.reason, took, context.Cause(steps), tt.want, tt.why)
			}
			end()
		})
	}
}

// end ends the steps at once, and leaves no goroutine.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps, end := Clock{Live: make(chan struct{})}.Steps(t.Context())
		end()
		if !errors.Is(context.Cause(steps), context.Canceled) {
			t.Errorf("ended by %v", context.Cause(steps))
		}
	})
}

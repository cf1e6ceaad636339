package js

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock returns a func that returns the processor time used by the thread that called threadClock, or 0 if that
// cannot be measured. Any thread may call the func while that one lives.
func threadClock() func() time.Duration {
	clock := int32(^unix.Gettid()<<3 | 6) // CPUCLOCK_SCHED and CPUCLOCK_PERTHREAD_MASK of Linux's posix-timers.h
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(clock, &t); err != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
}

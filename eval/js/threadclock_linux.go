package js

import (
	"time"

	"golang.org/x/sys/unix"
)

// ofThread, below the complement of a thread's id, makes the clock of the processor time that the thread took: see
// CPUCLOCK_SCHED and CPUCLOCK_PERTHREAD_MASK in Linux's posix-timers.h.
const ofThread = 6

// threadClock returns a func that reports the processor time used by the thread that called threadClock. Any thread may
// call the func.
func threadClock() func() (time.Duration, bool) {
	clock := int32(^unix.Gettid()<<3 | ofThread)
	return func() (time.Duration, bool) {
		var t unix.Timespec
		if err := unix.ClockGettime(clock, &t); err != nil {
			return 0, false
		}
		return time.Duration(t.Nano()), true
	}
}

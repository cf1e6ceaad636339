package noisy

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns how long the calling thread has run on a processor. It does not count while others run there.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

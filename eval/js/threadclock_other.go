//go:build !linux

package js

import "time"

// threadClock returns a func that does not know the time, as only Linux says how long another thread has run.
func threadClock() func() (time.Duration, bool) {
	return func() (time.Duration, bool) { return 0, false }
}

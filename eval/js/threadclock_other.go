//go:build !linux

package js

import "time"

// threadClock returns a func that always reports false: only Linux measures another thread's processor time.
func threadClock() func() (time.Duration, bool) {
	return func() (time.Duration, bool) { return 0, false }
}

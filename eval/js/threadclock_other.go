//go:build !linux

package js

import "time"

// threadClock returns a func that always returns 0: only Linux measures another thread's processor time.
func threadClock() func() time.Duration { return func() time.Duration { return 0 } }

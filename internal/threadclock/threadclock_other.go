//go:build !linux

// Package threadclock says how long a thread has worked.
package threadclock

import "time"

var start = time.Now()

// Now returns the time that has passed. It counts while others run on the processor.
func Now() time.Duration { return time.Since(start) }

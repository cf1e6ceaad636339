//go:build !linux

package noisy

import "time"

var processStart = time.Now()

// threadTime returns the time that has passed. It counts while others run on the processor.
func threadTime() time.Duration { return time.Since(processStart) }

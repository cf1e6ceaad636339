package noisy

import (
	"runtime"
	"testing"
	"time"
)

// The clock goes on while its thread works and, on Linux, stands while it sleeps.
func TestThreadTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	for threadTime()-begin < time.Millisecond { // or the test never ends
	}
	if runtime.GOOS != "linux" {
		return
	}
	before := threadTime()
	time.Sleep(300 * time.Millisecond)
	if asleep := threadTime() - before; asleep > 200*time.Millisecond {
		t.Errorf("it went on by %v in 300 ms of sleep", asleep)
	}
}

package threadclock_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/threadclock"
)

// The clock goes on while its thread works and, on Linux, stands while it sleeps.
func TestNow(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadclock.Now()
	for threadclock.Now()-begin < time.Millisecond { // or the test never ends
	}
	if runtime.GOOS != "linux" {
		return
	}
	before := threadclock.Now()
	time.Sleep(300 * time.Millisecond)
	if asleep := threadclock.Now() - before; asleep > 200*time.Millisecond {
		t.Errorf("it went on by %v in 300 ms of sleep", asleep)
	}
}

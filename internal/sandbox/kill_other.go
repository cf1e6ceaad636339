//go:build !linux

package sandbox

// awaitExit says that here a process cannot be waited for without being reaped.
func awaitExit(int) bool { return false }

// onMainThread says no: nothing is done to threads here.
func onMainThread() bool { return false }

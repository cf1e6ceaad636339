//go:build !linux

package sandbox

// awaitExit does nothing: here a process cannot be waited for without being reaped.
func awaitExit(int) {}

// onMainThread says no: nothing is done to threads here.
func onMainThread() bool { return false }

//go:build !linux

package sandbox

// awaitExit returns false: this system cannot wait for a process without reaping it.
func awaitExit(int) bool { return false }

// onMainThread returns false: threads are not confined on this system.
func onMainThread() bool { return false }

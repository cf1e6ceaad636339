//go:build linux && !amd64 && !arm64

package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = 0
	x32Bit    = 0
)

type setting struct {
	mounts, pidns, truncate, tcp bool
	guarded                      []int
	start                        uint32
}

// No filter is written for this architecture.
func baseFilter(setting) []unix.SockFilter  { return nil }
func aloneFilter(setting) []unix.SockFilter { return nil }
func timedFilter(setting) []unix.SockFilter { return nil }
func groupFilter(int) []unix.SockFilter     { return nil }
func askFilter(uint32) []unix.SockFilter    { return nil }

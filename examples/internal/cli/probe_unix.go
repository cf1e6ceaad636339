//go:build unix

package cli

import (
	"math"
	"syscall"
)

// mostOpen returns how many files this process may have open.
func mostOpen() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur)
}

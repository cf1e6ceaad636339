package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0
)

// Syscalls that this architecture does without.
var modes, owners, open, forks, alarm []uint32

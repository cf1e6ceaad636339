package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0
)

// Syscalls that this architecture lacks.
var modes, owners, open, forks, alarm []uint32

package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Bit    = 0x40000000
)

// Syscalls that newer architectures lack.
var (
	modes  = []uint32{unix.SYS_CHMOD, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
	owners = []uint32{unix.SYS_CHOWN, unix.SYS_LCHOWN}
	open   = []uint32{unix.SYS_OPEN}
	forks  = []uint32{unix.SYS_FORK, unix.SYS_VFORK}
	alarm  = []uint32{unix.SYS_ALARM}
)

//go:build unix && !linux

package sandbox

import "syscall"

func attr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

//go:build !unix

package command

import "os"

// signal returns 0: this system has no signals.
func signal(*os.ProcessState) int { return 0 }

// hardLinks returns how many names a file has, as far as this system says it.
func hardLinks(os.FileInfo) uint64 { return 1 }

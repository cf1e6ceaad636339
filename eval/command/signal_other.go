//go:build !unix

package command

import "os"

// signal returns 0: this system has no signals.
func signal(*os.ProcessState) int { return 0 }

// hardLinks returns 1: this system does not count a file's names.
func hardLinks(os.FileInfo) uint64 { return 1 }

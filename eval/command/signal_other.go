//go:build !unix

package command

import "os"

// signal returns 0: this system has no signals.
func signal(*os.ProcessState) int { return 0 }

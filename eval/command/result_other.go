//go:build !unix

package command

import "os"

// resultPair returns the ends of a command's standard output.
func resultPair() (ours, theirs *os.File, err error) { return os.Pipe() }

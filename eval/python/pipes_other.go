//go:build !unix

package python

import (
	"errors"
	"os"
	"runtime"
	"time"
)

// errNoFork is that candidates are forked from an interpreter, which takes a system that can.
var errNoFork = errors.New("python: " + runtime.GOOS + " cannot fork a process; run Python candidates through eval/command here")

type pipes struct{}

func (*pipes) open() ([]*os.File, error)      { return nil, errNoFork }
func (*pipes) line(time.Time) ([]byte, error) { return nil, errNoFork }
func (*pipes) close()                         {}

func closeAll([]*os.File) {}

type watch struct {
	nonce    []byte
	deadline time.Time
}

func newWatch(*zygote) (*watch, error)   { return nil, errNoFork }
func (*watch) run() error                { return errNoFork }
func (*watch) outcome() (outcome, error) { return outcome{}, errNoFork }

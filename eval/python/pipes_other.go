//go:build !unix

package python

import (
	"errors"
	"os"
	"runtime"
	"time"
)

// errNoFork is returned at start: candidates are forked from an interpreter, which this system cannot do.
var errNoFork = errors.New("python: " + runtime.GOOS +
	" cannot fork a process; run Python candidates through eval/command here")

type control struct{ fd int }

func (*control) open() (*os.File, error)        { return nil, errNoFork }
func (*control) line(time.Time) ([]byte, error) { return nil, errNoFork }
func (*control) close() error                   { return nil }
func (*control) hangUp()                        {}
func send(int, []byte, time.Time) error         { return errNoFork }

type pipes struct{}

func (*pipes) close() {}

type watch struct{ pipes pipes }

func newWatch(*zygote) (*watch, error)       { return nil, errNoFork }
func (*watch) start(job) error               { return errNoFork }
func (*watch) run() error                    { return errNoFork }
func (*watch) execution() (execution, error) { return execution{}, errNoFork }

package python

import (
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A manner is how a candidate ended.
type manner string

const (
	returned manner = "returned" // a result
	failed   manner = "failed"   // its own process says why
	ended    manner = "ended"    // without a word
	tooLong  manner = "ran too long"
	flooded  manner = "printed too much"
	tooLarge manner = "sent too much"
	littered manner = "left what cannot be removed"
)

// An execution is how a candidate ended, and what it left.
type execution struct {
	how     manner
	stage   int           // finished stages
	exit    int           // exit status, -1 if a signal killed it
	signal  int           // 0 means none
	cpu     time.Duration // processor time of its own process
	clean   bool          // nothing is left of it
	body    []byte        // the return value, or why it failed
	stdout  string
	stderr  string
	scratch string // its temporary folder, which has a new name each time
}

// fault returns the candidate's fault, or nil if it returned a result.
func (o execution) fault(c Config) *eval.ProgramError {
	reason, trace := "", ""
	switch o.how {
	case returned:
		return nil
	case failed:
		reason, trace = o.words()
	case tooLong:
		reason = fmt.Sprintf("ran longer than %v", c.Timeout)
		if o.stage > 0 {
			reason = fmt.Sprintf("stage %d %s", o.stage+1, reason)
		}
	case flooded:
		reason = fmt.Sprintf("printed more than %d MiB", floodBytes>>20)
	case tooLarge:
		reason = fmt.Sprintf("sent more than the %d bytes allowed as a result", resultBytes)
	case littered:
		reason = "left a temporary folder that cannot be removed"
	default:
		reason = o.ending(c)
	}
	artifacts := o.artifacts()
	if trace != "" {
		artifacts["traceback"] = o.relative(trace)
	}
	return &eval.ProgramError{Reason: o.relative(reason), Artifacts: artifacts}
}

// words returns the reason and the traceback that the candidate's own process gave.
func (o execution) words() (reason, trace string) {
	var w struct{ Reason, Traceback string }
	if err := json.Unmarshal(o.body, &w); err != nil || w.Reason == "" {
		return "failed without a reason", ""
	}
	return w.Reason, w.Traceback
}

// ending describes the end of a process that returned nothing.
func (o execution) ending(c Config) string {
	switch s := syscall.Signal(o.signal); {
	case o.signal == 0:
		return fmt.Sprintf("exited with status %d before it returned", o.exit)
	case s == signalCPU, s == syscall.SIGKILL && o.cpu >= c.CPU:
		return fmt.Sprintf("used more than %v of processor time", c.CPU)
	default:
		return fmt.Sprintf("was ended by signal %d (%v) before it returned", o.signal, s)
	}
}

// signalCPU is SIGXCPU, on every system that has it.
const signalCPU = syscall.Signal(24)

// artifacts returns the candidate's output.
func (o execution) artifacts() map[string]string {
	m := make(map[string]string)
	if o.stdout != "" {
		m["stdout"] = o.relative(o.stdout)
	}
	if o.stderr != "" {
		m["stderr"] = o.relative(o.stderr)
	}
	return m
}

func (o execution) relative(text string) string { return sandbox.Relative(text, o.scratch) }

package python

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	tooHeavy manner = "held too much memory"
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
	case tooHeavy:
		reason = fmt.Sprintf("used more than %d MiB of memory", c.Memory>>20)
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

// errDied means that a zygote ended while it was running a candidate, or gave an impossible answer.
var errDied = errors.New("python: the interpreter that ran it died")

// errFork means that no process could be made to run a candidate. That is not the candidate's fault, and may be
// temporary.
var errFork = errors.New("cannot make a process")

// A reply is a zygote's report on a candidate that has ended.
type reply struct {
	status uint32        // in the kernel's encoding
	cpu    time.Duration // processor time of its own process
	clean  bool          // nothing is left of it
}

// parseReply reads a zygote's line on the candidate n: "n status µs clean", or "n cannot fork: why". Any other
// line means that a candidate has tampered with the zygote.
func parseReply(line string, n uint32) (r reply, err error) {
	number, rest, _ := strings.Cut(line, " ")
	if number != strconv.FormatUint(uint64(n), 10) {
		return r, fmt.Errorf("%w: it answered %q for candidate %d", errDied, short(line), n)
	}
	if why, ok := strings.CutPrefix(rest, "cannot fork: "); ok {
		return r, fmt.Errorf("python: %w: an interpreter cannot fork: %s", errFork, short(why))
	}
	f := strings.Split(rest, " ")
	if len(f) != 3 || f[2] != "0" && f[2] != "1" {
		return r, fmt.Errorf("%w: it answered %q", errDied, short(line))
	}
	status, err := strconv.ParseUint(f[0], 10, 32)
	micros, wrong := strconv.ParseUint(f[1], 10, 53)
	if err = errors.Join(err, wrong); err != nil {
		return r, fmt.Errorf("%w: it answered %q", errDied, short(line))
	}
	return reply{uint32(status), time.Duration(micros) * time.Microsecond, f[2] == "1"}, nil
}

// short cuts an interpreter's words to a length that is readable in an error.
func short(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("... (%d bytes)", len(s))
}

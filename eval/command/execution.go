package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"syscall"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A manner is how a command ended.
type manner string

const (
	ended    manner = "ended"
	tooLong  manner = "ran too long"
	flooded  manner = "printed too much"
	crowded  manner = "had too many processes"
	canceled manner = "canceled"
	stopped  manner = "stopped"
)

// An execution is one step's command: how it ended, and what it printed.
type execution struct {
	how            manner
	state          *os.ProcessState
	stdout, stderr sandbox.Capture
	text           []byte // the start of standard output, long enough for the JSON allowed
	place                 // where it ran, under a new name each time

	step    string            // the step's name; "" for a command without steps
	earlier []place           // of earlier steps
	stderrs map[string]string // standard error of earlier steps
	dead    bool              // all of its processes have ended
	blocked string            // why the next step cannot begin; "" if it can
	stuck   []string          // files that the command could not make executable
}

// takeOver takes in the output of the previous step.
func (o *execution) takeOver(before *execution) {
	if o.stderrs = make(map[string]string); before == nil {
		return
	}
	maps.Copy(o.stderrs, before.stderrs)
	if before.stderr.Size() > 0 {
		o.stderrs[strings.ToLower(before.step)+" stderr"] = before.relative(before.stderr.String())
	}
}

// fault returns the candidate's fault, or nil if the command succeeded.
func (o *execution) fault(c Config) *eval.ProgramError {
	reason := ""
	switch o.how {
	case tooLong:
		reason = fmt.Sprintf("ran longer than %v", c.Timeout)
	case flooded:
		reason = fmt.Sprintf("printed more than %d MiB", floodBytes>>20)
	case stopped:
		reason = "was stopped"
	case crowded:
		reason = fmt.Sprintf("had more than %d processes and threads", c.Processes)
	default:
		if o.blocked == "" && o.state.Success() {
			return nil
		}
		if reason = o.blocked; reason == "" {
			reason = o.ending(c)
		}
	}
	if o.step != "" {
		reason = o.step + " " + reason
	}
	return &eval.ProgramError{Reason: reason, Artifacts: o.artifacts()}
}

// ending describes a command's failure. A shell runs the command and, if a signal killed it, exits with status 128 plus
// the signal.
func (o *execution) ending(c Config) string {
	number, code := signal(o.state), o.state.ExitCode()
	if number == 0 && code > fromSignal && code <= fromSignal+lastSignal {
		number = code - fromSignal
	}
	switch {
	case number == signalCPU, number == signalKill && o.state.UserTime()+o.state.SystemTime() >= c.CPU:
		return fmt.Sprintf("used more than %v of processor time", c.CPU)
	case number == 0:
		reason := fmt.Sprintf("exited with status %d", code)
		if line := lastLine(o.stderr.String()); line != "" {
			reason += ": " + o.relative(line) + o.cure(line)
		}
		return reason
	case code >= 0:
		return fmt.Sprintf("exited with status %d, as after signal %d (%v)", code, number, syscall.Signal(number))
	}
	return fmt.Sprintf("was ended by signal %d (%v)", number, syscall.Signal(number))
}

// cure returns advice for a command that failed because it tried to execute a file that it had made.
func (o *execution) cure(line string) string {
	at, name := -1, ""
	for _, n := range o.stuck { // the last one named, as a shell names its script first
		if i := strings.LastIndex(line, n); i > at {
			at, name = i, n
		}
	}
	if at < 0 || !strings.Contains(line, "ermission denied") {
		return ""
	}
	return fmt.Sprintf(" (a command cannot make files executable here: "+
		"make %s in Config.Build, and execute it as {build}/%s in Config.Run)", name, name)
}

// Signals, by their numbers on every system that has them, and how a shell reports them.
const (
	signalKill = 9
	signalCPU  = 24
	lastSignal = 64
	fromSignal = 128
)

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	s = s[strings.LastIndexByte(s, '\n')+1:]
	return s[:min(len(s), 300)]
}

// value returns the JSON from standard output.
func (o *execution) value(limit int) (json.RawMessage, error) {
	if n := o.stdout.Size(); n > limit {
		return nil, fmt.Errorf("printed %d bytes on standard output, more than the %d allowed", n, limit)
	}
	out := bytes.TrimSpace(o.text)
	if len(out) == 0 {
		return nil, errors.New("printed nothing on standard output")
	}
	if json.Valid(out) {
		return out, nil
	}
	last := out[bytes.LastIndexByte(out, '\n')+1:]
	if !json.Valid(last) {
		return nil, errors.New("printed what is not JSON on standard output, nor is its last line")
	}
	if n := countJSON(out); n > 1 {
		return nil, fmt.Errorf("printed %d lines of JSON on standard output, and which of them is the result cannot be told",
			n)
	}
	return last, nil
}

// countJSON returns how many lines of out are JSON by themselves.
func countJSON(out []byte) (n int) {
	for line := range bytes.Lines(out) {
		if json.Valid(line) {
			n++
		}
	}
	return n
}

// artifacts returns the output.
func (o *execution) artifacts() map[string]string {
	m := maps.Clone(o.stderrs)
	if o.stdout.Size() > 0 {
		m["stdout"] = o.relative(o.stdout.String())
	}
	if o.stderr.Size() > 0 {
		m["stderr"] = o.relative(o.stderr.String())
	}
	return m
}

func (o *execution) relative(text string) string {
	for _, p := range o.earlier {
		text = strings.ReplaceAll(text, p.work, p.placeholder())
	}
	return sandbox.Relative(sandbox.Relative(text, o.work), o.scratch)
}

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
)

// An outcome is how a command ended, and what it printed.
type outcome struct {
	how            manner
	state          *os.ProcessState
	stdout, stderr sandbox.Capture
	text           []byte // the start of standard output, as much as may be JSON
	place                 // where it was started, whose name differs each time

	step    string            // its name; "" for a command without steps
	earlier []place           // of the steps before it
	said    map[string]string // what these printed on standard error
	gone    bool              // nothing of it runs any more
	lacks   string            // why the next step is not begun
	stuck   []string          // files that it could not make executable
}

// takeOver notes what the step before printed.
func (o *outcome) takeOver(before *outcome) {
	if o.said = make(map[string]string); before == nil {
		return
	}
	maps.Copy(o.said, before.said)
	if before.stderr.Size() > 0 {
		o.said[strings.ToLower(before.step)+" stderr"] = before.relative(before.stderr.String())
	}
}

// fault returns what the candidate did wrong, nil if the command ended well.
func (o *outcome) fault(c Config) *eval.ProgramError {
	reason := ""
	switch o.how {
	case tooLong:
		reason = fmt.Sprintf("ran longer than %v", c.Timeout)
	case flooded:
		reason = fmt.Sprintf("printed more than %d MiB", floodBytes>>20)
	case crowded:
		reason = fmt.Sprintf("had more than %d processes and threads", c.Processes)
	default:
		if o.state.Success() && o.lacks == "" {
			return nil
		}
		if reason = o.lacks; reason == "" {
			reason = o.ending(c)
		}
	}
	if o.step != "" {
		reason = o.step + " " + reason
	}
	return &eval.ProgramError{Reason: reason, Artifacts: o.artifacts()}
}

// ending describes how a command failed. It is run by a shell, which ends with status 128 and
// the signal for a command that a signal ended.
func (o *outcome) ending(c Config) string {
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

// cure returns what to do if a command failed because it tried to execute a file that it had made.
func (o *outcome) cure(line string) string {
	at, name := -1, ""
	for _, n := range o.stuck { // the one that is named last, as a shell names its script first
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

// value returns the JSON that the command printed.
func (o *outcome) value(limit int) (json.RawMessage, error) {
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
		return nil, fmt.Errorf("printed %d lines of JSON on standard output, and which of them is the result cannot be told", n)
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

// artifacts returns what was printed.
func (o *outcome) artifacts() map[string]string {
	m := maps.Clone(o.said)
	if o.stdout.Size() > 0 {
		m["stdout"] = o.relative(o.stdout.String())
	}
	if o.stderr.Size() > 0 {
		m["stderr"] = o.relative(o.stderr.String())
	}
	return m
}

func (o *outcome) relative(text string) string {
	for _, p := range o.earlier {
		text = strings.ReplaceAll(text, p.work, p.placeholder())
	}
	return sandbox.Relative(sandbox.Relative(text, o.work), o.scratch)
}

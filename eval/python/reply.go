package python

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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

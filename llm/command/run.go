package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/internal/sandbox"
	"github.com/evoalloc/evoalloc/llm"
)

const (
	keptErr  = 512             // bytes of each end of standard error
	lastWait = 2 * time.Second // for outputs that a process outside of the group keeps open
)

// folderName begins the names of the working directories of commands; a number follows. Earlier versions did not claim
// theirs, so it is none of their names: what may be in use is not swept.
const folderName = "evoalloc-llm-command-"

// errTimeout distinguishes Model.Timeout from a deadline of the caller.
var errTimeout = errors.New("command: Model.Timeout passed")

// A result is how a command ended.
type result struct {
	stdout    []byte
	stderr    string
	flooded   bool
	unstarted bool
	call      error // the cause of the end of the call's time; nil if it was not over
	err       error // of the start, or the exit status
}

// run runs the command, and returns when its process group is gone.
func (c *Command) run(ctx context.Context, req llm.Request, input string) (r result) {
	call, cancel := context.WithTimeoutCause(ctx, c.cfg.Model.Timeout, errTimeout)
	defer cancel()
	args := c.args(req)
	cmd := &exec.Cmd{Path: c.path, Args: args, Env: Environ(c.cfg.Env), Dir: c.cfg.Dir, WaitDelay: lastWait}
	if cmd.Dir == "" {
		dir, release, err := claim.Folder(folderName)
		if err != nil {
			return result{unstarted: true, err: err}
		}
		defer release()
		defer sandbox.Remove(dir)
		cmd.Dir = dir
	}
	var process atomic.Pointer[sandbox.Process]
	kill := func() {
		if p := process.Load(); p != nil {
			p.Kill()
		}
	}
	out := &bounded{most: c.cfg.MaxOutput, full: kill}
	errs := &tail{Capture: sandbox.Capture{Keep: keptErr}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), out, errs
	cmd.SysProcAttr = c.plan.Attr()
	if err := sandbox.CloseInherited(cmd); err != nil {
		return result{unstarted: true, err: err}
	}
	p, err := sandbox.Start(cmd)
	if err != nil {
		return result{unstarted: true, err: err}
	}
	process.Store(p)
	if out.isFull() { // before there was a process to kill
		kill()
	}
	stop := context.AfterFunc(call, kill)
	r.err = p.Wait()
	if stop(); call.Err() != nil && r.err != nil {
		r.call = context.Cause(call)
	}
	if errors.Is(r.err, exec.ErrWaitDelay) { // it ended well, and something else keeps its output open
		r.err = nil
	}
	r.stdout, r.flooded = out.take()
	r.stderr = errs.text()
	return r
}

// failure returns why r brought no reply; nil if it did. bad is what Parse says of the output.
func (r result) failure(ctx context.Context, cfg Config, bad error) *llm.Error {
	failed := func(kind string, err error) *llm.Error { return &llm.Error{Status: llm.Failed, Kind: kind, Err: err} }
	switch {
	case r.unstarted:
		kind := llm.KindOther // such as too many processes, which may pass
		if errors.Is(r.err, os.ErrNotExist) || errors.Is(r.err, os.ErrPermission) {
			kind = llm.KindRefused
		}
		return failed(kind, fmt.Errorf("the command does not start: %w", r.err))
	case r.flooded:
		return failed(llm.KindBrokenReply, fmt.Errorf("the command printed more than %d bytes", cfg.MaxOutput))
	case r.call == errTimeout:
		return &llm.Error{Status: llm.Timeout,
			Err: fmt.Errorf("no end within %v%s: %w", cfg.Model.Timeout, r.said(), context.DeadlineExceeded)}
	case r.call != nil:
		return &llm.Error{Status: llm.Canceled, Err: fmt.Errorf("the caller gave up: %w", ctx.Err())}
	case r.err != nil:
		why := ""
		if bad != nil && len(r.stdout) > 0 && !errors.Is(bad, errSilent) {
			why = ", " + bad.Error()
		}
		return failed(llm.KindOther, fmt.Errorf("%w%s%s", r.err, why, r.said()))
	case bad != nil:
		return failed(llm.KindBrokenReply, fmt.Errorf("%w%s", bad, r.said()))
	}
	return nil
}

// said is what the command printed on standard error, for an error.
func (r result) said() string {
	if text := printable.Line(strings.ToValidUTF8(r.stderr, "\ufffd")); text != "" {
		return ": " + text
	}
	return ""
}

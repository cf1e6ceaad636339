package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// run runs the command on program in a temporary folder, and removes the folder. The working directory
// is in it, beside one for temporary files: some tools mistrust what lies right among those.
func (c *command) run(ctx context.Context, program, entry string) (o *outcome, err error) {
	scratch, err := os.MkdirTemp("", "evoalloc-command-")
	if err != nil {
		return o, fmt.Errorf("command: making a temporary folder: %w", err)
	}
	made := scratch
	defer func() { err = errors.Join(err, sandbox.Remove(made)) }()
	if scratch, err = filepath.EvalSymlinks(made); err != nil {
		return o, fmt.Errorf("command: finding the temporary folder: %w", err)
	}
	work, tmp := filepath.Join(scratch, "work"), filepath.Join(scratch, "tmp")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(tmp, 0o700)); err != nil {
		return o, fmt.Errorf("command: making a temporary folder: %w", err)
	}
	if c.cfg.Template != "" {
		if err := os.CopyFS(work, os.DirFS(c.cfg.Template)); err != nil {
			return o, fmt.Errorf("command: copying %s: %w", c.cfg.Template, err)
		}
	}
	file := filepath.Join(work, c.cfg.File)
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		return o, fmt.Errorf("command: writing the candidate: %w", err)
	}
	args := make([]string, len(c.cfg.Args))
	fill := strings.NewReplacer("{program}", file, "{entry}", entry, "{folder}", work)
	for i, a := range c.cfg.Args {
		args[i] = fill.Replace(a)
	}
	return c.start(ctx, args, scratch)
}

// start starts the command, and follows it to its end.
func (c *command) start(ctx context.Context, args []string, scratch string) (*outcome, error) {
	work := filepath.Join(scratch, "work")
	o := &outcome{scratch: scratch, work: work}
	o.stdout.Keep, o.stderr.Keep = c.cfg.OutputBytes/2, c.cfg.OutputBytes/2
	stop := make(stopper, 1)
	pipes, err := openPipes()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = work, c.cfg.environ(filepath.Join(scratch, "tmp"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]
	process, err := c.plan.Contain(cmd, c.cfg.bounds(), append([]string{scratch}, c.cfg.Writable...)...)
	closeAll(pipes.theirs)
	if err != nil {
		closeAll(pipes.ours)
		return nil, fmt.Errorf("command: starting %s: %w", args[0], err)
	}
	readers := pipes.read(o, c.cfg.ResultBytes, stop)
	o.how = follow(ctx, process, stop, c.cfg.Timeout)
	pipes.hurry()
	readers.Wait()
	if err := ctx.Err(); err != nil && o.how == canceled {
		return nil, fmt.Errorf("command: running a candidate: %w", err)
	}
	o.state = cmd.ProcessState
	return o, nil
}

// follow waits for the end of the process, and kills it when its time is up or it is stopped.
func follow(ctx context.Context, p *sandbox.Process, stop stopper, limit time.Duration) manner {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	how := ended
	select {
	case <-p.Done():
	case <-timer.C:
		how = tooLong
	case how = <-stop:
	case <-ctx.Done():
		how = canceled
	}
	if how == tooLong && p.Ended() {
		how = ended // in time, and this goroutine comes late to see it
	}
	p.Kill()
	_ = p.Wait() // how it ended is in its state
	if p.Crowded() {
		return crowded
	}
	select {
	case how = <-stop: // it ended while it was being stopped
	default:
	}
	return how
}

// A stopper carries the first reason to stop a process.
type stopper chan manner

func (s stopper) stop(how manner) {
	select {
	case s <- how:
	default:
	}
}

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/checkout"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// An Editor runs a command that changes a program, such as an agent that writes code, and returns the program that it
// leaves. The command is contained like a candidate and finds the program in its working directory: with Config.Base
// the base with the program's changes, otherwise the file. It gets a prompt, an empty HOME and no environment but
// Config.Env and that of the job.
//
// When all processes of the command are dead, its working directory is read. With a Base the program is the patch
// that leads there. What no patch can hold is left out, and [Edit] says so. So are new files that the base's .gitignore
// names, and those that agents keep for themselves, such as .claude and .aider*. What is called .git is not part of a
// program. Only text files up to 1 MiB are. Nothing that the command left is followed or executed.
//
// In the arguments of Config.Run, {prompt} stands for the path of a file with the prompt, and {program} for the
// folder or file to change.
//
// It is safe for concurrent use, and runs as many commands as there are calls.
type Editor struct{ command }

// A Job is what the command of an [Editor] is asked to do.
type Job struct {
	// Prompt is the command's standard input.
	Prompt string
	// Env is added to Config.Env: NAME=value, in which {address} stands for the address of Socket.
	Env []string
	// Home has texts of files that the command finds in its HOME, by their paths from there with slashes: what it may want
	// to look at and must not change in the program.
	Home map[string]string
	// Socket is the path of a Unix socket that the command can connect to, and nothing else: as {address}, a host and port
	// of TCP, in its arguments and in Env. Port 80 of localhost is the same where there is a network namespace. "" means
	// that it has no network at all. Under [isolation.None] every network is open, and every user of this machine can
	// connect to the address; see [Editor.CanReach].
	Socket string
	// Place, a random number, and Time have a command that is run again find the same paths and times. 0 means others.
	Place uint64
	Time  time.Time
	// Stop ends the command when it is closed, and what it left until then is read. nil means that nothing does.
	Stop <-chan struct{}
}

// An Edit is what the command of an [Editor] came to.
type Edit struct {
	// Program is the program that the command left, also where it failed; "" if that cannot be read.
	Program string
	// Omitted tells which files were left out of Program, and why, a line each.
	Omitted []string
	// Stdout and Stderr are what the command printed. Stdout is whole up to Config.ResultBytes. Longer ones are cut to
	// Config.OutputBytes, the first and the last of them.
	Stdout, Stderr string
	// Fault is nil if the command exited with status 0 and left a program.
	Fault *eval.ProgramError
}

// NewEditor finds the command, Config.Run or Args, and the mechanisms of containment, so that missing ones are reported
// before anything is paid for. Build and Score have to be nil.
func NewEditor(cfg Config) (*Editor, error) { return newEditor(cfg, sandbox.Mechanisms()) }

func newEditor(cfg Config, ms []isolation.Mechanism) (*Editor, error) {
	cfg.edits = true
	cfg.Timeout, cfg.Memory = cmp.Or(cfg.Timeout, 30*time.Minute), cmp.Or(cfg.Memory, 64<<30)
	if cfg.Build != nil || cfg.Score != nil {
		return nil, fmt.Errorf("command: Config.Build is %q, and Config.Score %q: an Editor has the step Run alone",
			cfg.Build, cfg.Score)
	}
	c, err := newCommand(cfg, ms)
	if err != nil {
		return nil, err
	}
	return &Editor{c}, nil
}

// furnish writes the files of a job's Home to the folder that the command has as its HOME.
func (j *Job) furnish(home string) error {
	for name, text := range j.Home {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("command: making a folder of Job.Home: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("command: writing a file of Job.Home: %w", err)
		}
	}
	return nil
}

// Edit runs the command on program. A command that fails, or leaves what cannot be read, is a fault of the Edit; an
// error means that it could not be run. What it left when ctx ended, perhaps many files, the next process removes.
func (e *Editor) Edit(ctx context.Context, program string, job Job) (out Edit, err error) {
	for _, v := range job.Env {
		if !strings.Contains(v, "=") {
			return out, fmt.Errorf("command: Job.Env has %q: need NAME=value", v)
		}
	}
	for name := range job.Home {
		if !fs.ValidPath(name) || name == "." {
			return out, fmt.Errorf("command: Job.Home has %q: need the path of a file from there", name)
		}
	}
	run := evaluation{command: &e.command, program: program, job: &job}
	defer func() { err = errors.Join(err, run.remove(ctx.Err() != nil)) }()
	if why := run.fit(); why != "" {
		return Edit{Fault: &eval.ProgramError{Reason: why}}, nil
	}
	if job.Socket != "" {
		if run.relay, err = e.steps[0].plan.NewRelay(job.Socket, job.Place); err != nil {
			return out, fmt.Errorf("command: %w", err)
		}
		defer run.relay.Close()
	}
	o, err := run.step(ctx, &e.steps[0], nil)
	if err != nil {
		return Edit{}, err
	}
	out = Edit{Stdout: o.stdout.String(), Stderr: o.relative(o.stderr.String()), Fault: o.fault(e.cfg)}
	if o.stdout.Size() <= len(o.text) {
		out.Stdout = string(o.text)
	}
	out.Stdout = o.relative(out.Stdout)
	if out.Program, out.Omitted, err = e.read(&run, o); err != nil {
		out.blame(err)
	}
	return out, nil
}

// read returns the program that a command left.
func (e *Editor) read(run *evaluation, o *execution) (program string, omitted []string, err error) {
	if !o.dead {
		return "", nil, errors.New("processes that could not be ended")
	}
	c := checkout.Folder{Base: e.base.dir, Dir: o.work, Linked: !run.inside()}
	if c.Base == "" {
		content, err := c.File(e.cfg.File)
		if err == nil && !utf8.Valid(content) {
			err = fmt.Errorf("%s, which is not UTF-8", e.cfg.File)
		}
		return string(content), nil, relativeTo(c.Dir, err)
	}
	if t := run.places[0].tree; t.made.dir != "" {
		c.Dir, c.Layer = t.layer.Upper, true
	}
	p, omitted, err := c.Read(run.changes.Base)
	if err != nil {
		return "", omitted, relativeTo(c.Dir, err)
	}
	return p.String(), omitted, nil
}

// relativeTo returns err without the folder that holds dir, whose name is another each time.
func relativeTo(dir string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(sandbox.Relative(err.Error(), filepath.Dir(dir)))
}

// blame adds to the fault that the command left what cannot be read.
func (out *Edit) blame(err error) {
	out.Program = ""
	reason := "left what cannot be a program: " + err.Error()
	if out.Fault == nil {
		out.Fault = &eval.ProgramError{}
	} else {
		reason = out.Fault.Reason + ", and " + reason
	}
	out.Fault = &eval.ProgramError{Reason: reason, Artifacts: out.Fault.Artifacts}
}

// CanReach returns why jobs with a Socket cannot be run here, nil if they can. It takes a network namespace, or
// [isolation.None].
func (e *Editor) CanReach() error {
	if err := e.steps[0].plan.CanRelay(); err != nil {
		return fmt.Errorf("command: %w", err)
	}
	return nil
}

// String returns a description for people.
func (e *Editor) String() string { return "command.Editor" + e.describe() }

// environ returns the environment that a job adds.
func (e *evaluation) environ() (env []string) {
	if e.job == nil {
		return nil
	}
	words := strings.NewReplacer(e.reached()...)
	for _, v := range e.job.Env {
		env = append(env, words.Replace(v))
	}
	return env
}

// reached returns the placeholder of the address that the command can connect to, and the address; nothing if there is
// none.
func (e *evaluation) reached() []string {
	if e.relay == nil {
		return nil
	}
	return []string{"{address}", e.relay.Address()}
}

// stopping stops a command once the job is stopped. Call the function it returns when the command has ended.
func (j *Job) stopping(stop stopper) (end func()) {
	if j == nil || j.Stop == nil {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-j.Stop:
			stop.stop(stopped)
		case <-over:
		}
	}()
	return func() {
		close(over)
		<-done
	}
}

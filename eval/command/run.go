package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// An evaluation takes one candidate through the steps.
type evaluation struct {
	*command
	program, entry string
	job            *Job           // of an Editor; nil otherwise
	relay          *sandbox.Relay // to the job's socket, if it has one
	changes        patch.Patch    // of the base, if there is one
	places         []place        // of the steps so far, the last first
	fresh          []tree         // the program's trees of later steps, and the layers of caches
}

// A place is the folder of a step. It holds the working directory and, beside it, a folder for temporary files: some
// tools distrust files directly among temporary ones. Each step's folder is made when all processes of earlier steps
// have ended, so none of its files are theirs.
type place struct {
	step   string
	folder claimed
	// the folder with links in its path resolved, and the working directory in it
	scratch, work string
	tree          tree // in the working directory of the first step, if there is a base
}

// placeholder stands for the working directory in a later step's arguments and output.
func (p place) placeholder() string { return "{" + strings.ToLower(p.step) + "}" }

// run runs the steps on program until one fails, each in a temporary folder, and removes the folders.
func (c *command) run(ctx context.Context, program, entry string) (o *execution, err error) {
	e := evaluation{command: c, program: program, entry: entry}
	defer func() { err = errors.Join(err, e.remove(false)) }()
	if why := e.fit(); why != "" {
		return &execution{blocked: why}, nil
	}
	for i := range c.steps {
		s := &c.steps[i]
		if o, err = e.step(ctx, s, o); err != nil || i+1 == len(c.steps) || o.fault(c.cfg) != nil {
			return o, err
		}
		if o.blocked = e.handOver(o, c.steps[i+1].name); o.blocked != "" {
			return o, nil
		}
	}
	return o, nil
}

// fit reads what the program changes in the base, if there is one. It returns why that cannot be, or "".
func (e *evaluation) fit() string {
	if e.cfg.Base == "" {
		return ""
	}
	var err error
	if e.changes, err = patch.Parse(e.program); err == nil {
		err = e.base.check(e.changes)
	}
	if err != nil {
		return "the program does not fit its base: " + err.Error()
	}
	return ""
}

// inside reports whether a step's files can have no other names elsewhere.
func (e *evaluation) inside() bool {
	return e.report.Has(sandbox.MountNS) || e.report.Has(sandbox.Landlock)
}

// handOver prepares the folders of the steps so far for the next one, and returns the fault of the last.
func (e *evaluation) handOver(o *execution, next string) string {
	if !o.dead {
		return "left processes that could not be ended"
	}
	if n := o.stdout.Size(); next == stepScore && n > e.cfg.ResultBytes {
		return fmt.Sprintf("printed %d bytes on standard output, more than the %d allowed", n, e.cfg.ResultBytes)
	}
	settled := e.places[:1]
	if next == stepScore {
		settled = e.places // links are removed from all
	}
	for _, p := range settled {
		s := settling{execute: p.step == stepBuild, plain: next == stepScore, inside: e.inside()}
		holds, name := p.scratch, filepath.Base(p.work)
		if p.tree.made.dir != "" {
			s.layer = true
			holds, name = filepath.Split(p.tree.layer.Upper)
		}
		if err := s.settle(holds, name); err != nil {
			return sandbox.Relative(err.Error(), holds)
		}
	}
	return ""
}

// remove removes the folders, or leaves them to the next process.
func (e *evaluation) remove(leave bool) (err error) {
	for _, p := range e.places {
		err = errors.Join(err, p.folder.remove(leave), p.tree.made.remove(leave))
	}
	for _, t := range e.fresh {
		err = errors.Join(err, t.made.remove(leave))
	}
	return err
}

// step runs one step. before is the previous one, or nil.
func (e *evaluation) step(ctx context.Context, s *step, before *execution) (*execution, error) {
	p, err := e.place(s.name)
	if err != nil {
		return nil, err
	}
	file, layers, err := e.put(p, before == nil)
	if err != nil {
		return nil, fmt.Errorf("command: writing the candidate: %w", err)
	}
	words := []string{"{program}", file, "{entry}", e.entry, "{folder}", p.work, "{prompt}", p.prompt()}
	words = append(words, e.reached()...)
	o := &execution{place: p, earlier: e.places[1:]}
	for _, q := range o.earlier {
		words = append(words, q.placeholder(), q.work)
	}
	if len(e.steps) > 1 {
		o.step = s.name
	}
	args := make([]string, len(s.args))
	for i, a := range s.args {
		args[i] = strings.NewReplacer(words...).Replace(a)
	}
	input, err := e.input(s, before, p)
	if err != nil {
		return nil, err
	}
	if e.job != nil {
		if err := errors.Join(e.job.furnish(p.tmp()), sandbox.Date(e.job.Time, p.scratch, layers)); err != nil {
			return nil, err
		}
	}
	o.takeOver(before)
	contained := *s
	contained.plan = s.plan.Layering(layers).Through(e.relay)
	return o, e.start(ctx, &contained, args, input, o)
}

// put puts the program where a step finds it: at p for the first one, in a folder of its own for others. It returns the
// path, and the layers that the step has to find.
func (e *evaluation) put(p place, first bool) (path string, layers []sandbox.Layer, err error) {
	if path = p.work; !first {
		path = filepath.Join(p.scratch, "program")
		err = os.Mkdir(path, 0o700)
	}
	if err == nil && e.cfg.Base != "" {
		layers, err = e.lay(path, first)
		return path, layers, err
	}
	if err == nil && first && e.cfg.Template != "" {
		err = os.CopyFS(path, os.DirFS(e.cfg.Template))
	}
	if err == nil {
		layers, err = e.cached()
	}
	path = filepath.Join(path, e.cfg.File)
	return path, layers, errors.Join(err, writeOver(path, e.program))
}

// writeOver writes a file, in place of the one of Template if that has one of the name, whose mode it then has. It does
// not follow a link, which could lead to a file of the host.
func writeOver(path, text string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// lay puts the program's tree at path. A later step finds the first one's working directory as it was left, too.
func (e *evaluation) lay(path string, first bool) (layers []sandbox.Layer, err error) {
	t, err := e.base.lay(e.changes, path)
	if first {
		e.places[0].tree = t
	} else {
		e.fresh = append(e.fresh, t)
		left := &e.places[len(e.places)-1].tree // in which what is deleted was deleted
		left.layer.Deleted, left.layer.Cleared = nil, nil
		layers = left.layers(true)
	}
	if err != nil {
		return nil, err
	}
	caches, err := e.cached()
	return slices.Concat(layers, t.layers(!first), caches), err
}

// cached returns layers over the caches for one step.
func (e *evaluation) cached() (layers []sandbox.Layer, err error) {
	if !e.base.layers {
		return nil, nil
	}
	for _, dir := range e.base.caches {
		t, err := newTree(dir, dir)
		if e.fresh = append(e.fresh, t); err != nil {
			return nil, err
		}
		layers = append(layers, t.layers(false)...)
	}
	return layers, nil
}

// place makes a place for a step.
func (e *evaluation) place(name string) (p place, err error) {
	p.step = name
	if p.folder, err = placed(e.job); err != nil {
		return p, err
	}
	e.places = append([]place{p}, e.places...)
	if p.scratch, err = filepath.EvalSymlinks(p.folder.dir); err != nil {
		return p, fmt.Errorf("command: finding the temporary folder: %w", err)
	}
	p.work = filepath.Join(p.scratch, "work")
	if err := errors.Join(os.Mkdir(p.work, 0o700), os.Mkdir(p.tmp(), 0o700)); err != nil {
		return p, fmt.Errorf("command: making a temporary folder: %w", err)
	}
	e.places[0] = p
	return p, nil
}

// tmp is the folder for temporary files, and HOME.
func (p place) tmp() string { return filepath.Join(p.scratch, "tmp") }

// prompt is the file with an Editor's prompt.
func (p place) prompt() string { return filepath.Join(p.scratch, "prompt") }

// input opens a step's standard input: the output of Run for Score, the prompt for an Editor's command, nothing for
// others.
func (e *evaluation) input(s *step, before *execution, p place) (*os.File, error) {
	path := os.DevNull
	var err error
	switch {
	case e.job != nil:
		path = p.prompt()
		err = os.WriteFile(path, []byte(e.job.Prompt), 0o400)
	case s.name == stepScore:
		path = filepath.Join(p.scratch, "printed")
		err = os.WriteFile(path, before.text, 0o400)
	}
	if err != nil {
		return nil, fmt.Errorf("command: writing an input: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("command: opening an input: %w", err)
	}
	return f, nil
}

// start starts a command, and follows it to its end.
func (e *evaluation) start(ctx context.Context, s *step, args []string, input *os.File, o *execution) error {
	o.stdout.Keep, o.stderr.Keep = e.cfg.OutputBytes/2, e.cfg.OutputBytes/2
	stop := make(stopper, 1)
	pipes, err := openPipes(input)
	if err != nil {
		return err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = o.work, slices.Concat(e.cfg.environ(o.tmp()), e.environ())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]
	process, err := s.plan.Contain(cmd, e.cfg.bounds(), append([]string{o.scratch}, s.writable...)...)
	closeAll(pipes.theirs)
	if err != nil {
		closeAll(pipes.ours)
		return fmt.Errorf("command: starting %s: %w", args[0], err)
	}
	readers := pipes.read(o, e.cfg.ResultBytes, stop)
	defer e.job.stopping(stop)()
	o.how = follow(ctx, process, stop, e.cfg.Timeout)
	o.dead = e.job == nil && len(e.steps) == 1 || process.Gone(endTime)
	pipes.hurry()
	readers.Wait()
	if err := ctx.Err(); err != nil && o.how == canceled {
		return fmt.Errorf("command: running a candidate: %w", err)
	}
	if o.state = cmd.ProcessState; !o.state.Success() && e.report.Has(sandbox.Seccomp) {
		o.stuck = stuck(o.place, mostStuck)
	}
	return nil
}

// mostStuck bounds the files that are looked at: a candidate can make more than fit into memory.
const mostStuck = 1000

// stuck returns the files in a command's folder that it could not make executable, since it cannot change modes. It
// looks at most files of them. An unreadable folder counts as empty, and so does what the command put in its place.
func stuck(p place, most int) (names []string) {
	root, err := os.OpenRoot(p.scratch)
	if err != nil {
		return nil
	}
	defer root.Close()
	work, err := root.OpenRoot(filepath.Base(p.work))
	if err != nil {
		return nil
	}
	defer work.Close()
	dir, err := work.Open(".")
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(most)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Mode()&0o100 == 0 {
			names = append(names, e.Name())
		}
	}
	return names
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
		how = ended // in time, noticed late
	}
	p.Kill()
	_ = p.Wait() // its state says how it ended
	if p.Crowded() {
		return crowded
	}
	select {
	case how = <-stop: // it ended on its own meanwhile
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

package python

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A zygote is an interpreter that has imported the candidates' modules and forks a fresh, contained process for each,
// one at a time. One goroutine at a time uses a zygote; any may call kill.
type zygote struct {
	cmd        *exec.Cmd
	process    *sandbox.Process
	control    control
	candidates uint32 // candidates so far
	scratch    string
	release    func() // of the claim on scratch
	stderr     *tail
	kind       *kind
	orders     orders
	buf        [64 << 10]byte // for what comes from candidates
}

// A tail is a Capture that can be written to.
type tail struct{ sandbox.Capture }

func (t *tail) Write(p []byte) (int, error) {
	t.Take(p)
	return len(p), nil
}

// startTimeout is how long an interpreter may take to start and import; a cold disk is slow.
const startTimeout = 2 * time.Minute

// graceTime is a kind's grace except in tests.
const graceTime = 15 * time.Second

// startZygote starts a zygote, and waits until it has done its imports.
func startZygote(ctx context.Context, k *kind) (z *zygote, h hello, err error) {
	scratch, release, err := newScratch()
	if err != nil {
		return nil, h, err
	}
	z = &zygote{scratch: scratch, release: release, stderr: &tail{sandbox.Capture{Keep: 4 << 10}}, kind: k}
	if err := z.start(k); err != nil {
		return nil, h, errors.Join(fmt.Errorf("python: starting %s: %w", k.interpreter, err), z.removeScratch(nil))
	}
	if h, err = z.greet(ctx, k); err != nil {
		if said := z.complaint(); said != "" && errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New(said)
		}
		return nil, h, errors.Join(fmt.Errorf("python: starting %s: %w", k.interpreter, err), z.close())
	}
	return z, h, nil
}

// start starts the interpreter.
func (z *zygote) start(k *kind) error {
	theirs, err := z.control.open()
	if err != nil {
		return err
	}
	defer theirs.Close()
	z.cmd = exec.Command(k.interpreter, "-c", bootstrap)
	z.cmd.Env, z.cmd.Dir = k.env, string(filepath.Separator)
	// Imports may print to standard output and error; only people read that.
	z.cmd.Stdin, z.cmd.Stdout, z.cmd.Stderr = theirs, z.stderr, z.stderr
	if err := sandbox.CloseInherited(z.cmd); err != nil {
		return errors.Join(err, z.control.close())
	}
	z.cmd.SysProcAttr = k.plan.Attr()
	z.cmd.WaitDelay = time.Second
	if z.process, err = k.plan.StartZygote(z.cmd, k.bounds); err != nil {
		return errors.Join(err, z.control.close())
	}
	return nil
}

// greet gives the interpreter its orders and waits for its answer.
func (z *zygote) greet(ctx context.Context, k *kind) (h hello, err error) {
	z.orders = k.orders
	z.orders.Orders = k.plan.Orders(k.bounds, z.scratch, os.Getpid(), z.cmd.Process.Pid)
	stop := context.AfterFunc(ctx, z.kill) // replaced by the orders' own limits
	defer stop()
	data, err := json.Marshal(z.orders)
	if err != nil {
		return h, err
	}
	deadline := time.Now().Add(startTimeout)
	if err := send(z.control.fd, append(frame(k.code), frame(data)...), deadline); err != nil {
		return h, cmp.Or(ctx.Err(), err)
	}
	line, err := z.control.line(deadline)
	switch {
	case ctx.Err() != nil:
		return h, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return h, fmt.Errorf("it took more than %v to import the modules of candidates", startTimeout)
	case err != nil:
		return h, err
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("it answered %q: %w", short(string(line)), err)
	}
	if h.Failed != "" {
		return h, errors.New(short(h.Failed))
	}
	return h, nil
}

// do runs a candidate. After an error the zygote must not be used again: it died (errDied), it did not end the
// candidate, or ctx ended.
func (z *zygote) do(ctx context.Context, j job) (execution, error) {
	w, err := newWatch(z)
	if err != nil {
		return execution{}, err
	}
	stop := context.AfterFunc(ctx, z.kill)
	defer stop()
	defer w.pipes.close()
	if err = w.start(j); err == nil {
		err = w.run()
	}
	switch {
	case err == nil:
		return w.execution()
	case ctx.Err() != nil:
		return execution{}, fmt.Errorf("python: running a candidate: %w", ctx.Err())
	case errors.Is(err, os.ErrDeadlineExceeded):
		return execution{how: tooLong, scratch: z.scratch}, err
	case errors.Is(err, errFork), errors.Is(err, errDied):
		return execution{}, err
	}
	return execution{}, fmt.Errorf("%w: %w", errDied, err)
}

// kill ends the interpreter and its candidate at once. In a pid namespace the kernel ends all processes. Without one
// the zygote ends its candidate when its input ends, if it has the time.
func (z *zygote) kill() {
	if z.orders.PIDNS {
		_ = z.cmd.Process.Kill() // fails only if it has ended already
		return
	}
	z.control.hangUp()
	go func() {
		timer := time.NewTimer(endTime)
		defer timer.Stop()
		select {
		case <-z.process.Done():
		case <-timer.C:
			_ = z.cmd.Process.Kill()
		}
	}()
}

// endTime is how long a zygote may take to end its candidate.
const endTime = 5 * time.Second

// close ends the interpreter and removes its files.
func (z *zygote) close() error {
	z.end()
	return z.removeScratch(nil)
}

// end ends the interpreter.
func (z *zygote) end() {
	z.kill()
	_ = z.process.Wait()  // fails because it was killed
	_ = z.control.close() // nothing was written
}

// complaint ends the interpreter and returns the end of its standard error.
func (z *zygote) complaint() string {
	z.kill()
	_ = z.process.Wait()
	return short(lastLine(z.stderr.String()))
}

// A kind is what the zygotes of one pool share.
type kind struct {
	interpreter string
	env         []string
	code        []byte // the harness
	plan        *sandbox.Plan
	bounds      sandbox.Bounds
	orders      orders
	timeout     time.Duration // of one stage
	grace       time.Duration // time for a zygote to end a late candidate before the zygote counts as dead
	stages      int           // at most
	patience    time.Duration // longest wait while no process can be made
	log         *slog.Logger
	required    []string // modules that a zygote must import
	resident    int64    // bytes of memory that a candidate's processes may hold; 0 means no limit
}

// check returns an error if a zygote lacks a required module or mechanism.
func (k *kind) check(h hello, level isolation.Level) (isolation.Report, error) {
	r := k.plan.Report(k.plan.Orders(k.bounds, ""), h.Missing)
	if err := sandbox.Require(level, r); err != nil {
		return r, fmt.Errorf("python: %w", err)
	}
	for _, m := range slices.Sorted(maps.Keys(h.Lacking)) {
		if slices.Contains(k.required, m) {
			return r, fmt.Errorf("python: %s cannot import %s: %s", k.interpreter, m, h.Lacking[m])
		}
	}
	return r, nil
}

// scratchName begins the names of candidates' temporary folders; a number follows.
const scratchName = "evoalloc-python-"

// newScratch makes the temporary folder for the candidates of one interpreter, and claims it until release is called.
// It also removes such folders of killed processes.
func newScratch() (dir string, release func(), err error) {
	claim.Sweep(os.TempDir(), scratchName, sandbox.Remove)
	if dir, release, err = claim.Folder(scratchName); err != nil {
		return "", nil, fmt.Errorf("python: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		release()
		return "", nil, errors.Join(fmt.Errorf("python: finding the temporary folder: %w", err), os.Remove(dir))
	}
	return real, release, nil
}

// removeScratch removes the folder and everything in it. If stop is closed first, it leaves the folder to the next
// process that makes such folders.
func (z *zygote) removeScratch(stop <-chan struct{}) error {
	defer z.release()
	return sandbox.RemoveUntil(stop, z.scratch)
}

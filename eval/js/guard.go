package js

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// A guard bounds how long a machine runs.
//
// The engine's own interrupts bound nothing: it checks for one after every ten thousand calls or jumps, however long
// each takes, and never inside a built-in function, some of which go on for minutes or years. So when time is up the
// guard makes the machine's memory inaccessible. All engine code touches that memory, so it faults at once, and Go
// turns the fault into a panic (debug.SetPanicOnFault). The goroutine unwinds to run, and the machine is discarded.
// (WebAssembly in wazero 1.12 can be stopped only by calls into Go at each turn of its loops: one an instruction here.)
type guard struct {
	mem       []byte        // of the machine
	wall, cpu time.Duration // the limits; 0 for cpu: none
}

// run calls f and stops it when ctx is done or a limit has passed. The error is nil if f returned. Otherwise it is the
// program's or wraps ctx's, and the machine is unusable.
func (g guard) run(ctx context.Context, f func()) error {
	if g.cpu > 0 {
		runtime.LockOSThread() // its clock measures f
		defer runtime.UnlockOSThread()
	}
	clock, ended, stopped := threadClock(), make(chan struct{}), make(chan error)
	go func() { stopped <- g.watch(ctx, clock, ended) }()
	err := call(f)
	close(ended)
	if why := <-stopped; why != nil {
		_ = permit(g.mem) // so that the output can be read
		return why
	}
	return err
}

// watch makes the memory inaccessible when ctx is done or a limit has passed, and returns why. It returns nil if ended
// is closed before.
func (g guard) watch(ctx context.Context, used func() time.Duration, ended <-chan struct{}) (why error) {
	wall, cpu := time.NewTimer(g.wall), time.NewTimer(g.cpu)
	defer wall.Stop()
	defer cpu.Stop()
	if g.cpu == 0 {
		cpu.Stop()
	}
	for begin := used(); why == nil; {
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			why = fmt.Errorf("js: stopped: %w", ctx.Err())
		case <-wall.C:
			why = wrong("ran longer than %v", g.wall)
		case <-cpu.C:
			// Processor time does not outrun wall time, so the next look is due when the rest of the limit has passed.
			if rest := g.cpu - (used() - begin); rest > 0 {
				cpu.Reset(max(rest, time.Millisecond))
			} else {
				why = wrong("took more than %v of processor time", g.cpu)
			}
		}
	}
	for forbid(g.mem) != nil {
		time.Sleep(time.Millisecond) // the system lacks memory for its own tables
	}
	return why
}

// call runs f and returns the error of a program that made it panic.
func call(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			stack := debug.Stack()
			err = withArtifact(wrong("broke the JavaScript engine: %v", v), "stack", string(stack[:min(len(stack), 2<<10)]))
		}
	}()
	f()
	return nil
}

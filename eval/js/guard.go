package js

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// A guard bounds how long a machine runs.
//
// The engine's own interrupts bound nothing: it checks for one after every ten thousand calls or jumps, however long
// each takes, and never inside a built-in function. A search through a sparse array, a copy of a large one in a loop or
// a recursion into nested arrays goes on for minutes or years. So when time is up the guard makes the machine's memory
// inaccessible. All engine code touches that memory, so it faults at once, and Go turns the fault into a panic
// (debug.SetPanicOnFault). The goroutine unwinds to run, and the machine is discarded.
//
// A guard serves one run, so that a timer that fires late finds nothing to stop.
type guard struct {
	mem      []byte // of the machine
	readable bool   // whether mem is readable again after a stop

	mu      sync.Mutex
	running bool
	cause   error // why the machine was stopped, or nil
}

// Why a program was stopped.
var (
	errTimeLimit = errors.New("time limit")
	errCPULimit  = errors.New("limit of processor time")
)

// limits bound a program's time; 0 means no limit.
type limits struct {
	wall, cpu time.Duration
}

// A fault is an error of the engine: a Go panic that no guard caused.
type fault struct {
	value any
	stack []byte
}

func (f *fault) Error() string { return fmt.Sprintf("js: the engine failed: %v", f.value) }

// run calls f and stops it when ctx is done or a limit has passed. The error is nil if f returned. Otherwise it is
// ctx's, errTimeLimit, errCPULimit or a *fault, and the machine is unusable.
func (g *guard) run(ctx context.Context, most limits, f func()) error {
	g.running = true
	timer := time.AfterFunc(most.wall, func() { g.stop(errTimeLimit) })
	defer timer.Stop()
	if most.cpu > 0 {
		runtime.LockOSThread() // its clock measures f
		defer runtime.UnlockOSThread()
		defer g.watch(most.cpu)()
	}
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, func() { g.stop(ctx.Err()) })()
	}
	broken := g.call(f)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = false
	switch {
	case g.cause != nil:
		g.readable = permit(g.mem) == nil // the output is still there
		return g.cause
	case broken != nil:
		return broken
	}
	return nil
}

// watch stops the machine when the calling thread has used limit more of processor time, unless end is called before.
// Processor time does not outrun wall time, so watch sleeps for the rest of the limit before it checks again.
func (g *guard) watch(limit time.Duration) (end func()) {
	clock := threadClock()
	begin, ok := clock()
	if !ok { // only the other limit applies
		return func() {}
	}
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(limit, func() {
		<-ready // timer is set
		switch now, ok := clock(); {
		case !ok: // the thread has ended
		case now-begin >= limit:
			g.stop(errCPULimit)
		default:
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.running { // or the run has ended since the timer fired
				timer.Reset(max(limit-(now-begin), time.Millisecond))
			}
		}
	})
	close(ready)
	return func() { timer.Stop() }
}

// call runs f and returns the panic that ended it, unless this guard caused the panic.
func (g *guard) call(f func()) (broken *fault) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil && !g.stopped() {
			broken = &fault{v, debug.Stack()}
		}
	}()
	f()
	return nil
}

// stopped reports whether the machine was stopped.
func (g *guard) stopped() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause != nil
}

// stop makes the memory of the running machine inaccessible.
func (g *guard) stop(cause error) {
	for wait := time.Millisecond; ; wait *= 2 {
		g.mu.Lock()
		done := !g.running || g.cause != nil || forbid(g.mem) == nil
		if done && g.running && g.cause == nil {
			g.cause = cause
		}
		g.mu.Unlock()
		if done {
			return
		}
		time.Sleep(wait) // the system lacks memory for its own tables
	}
}

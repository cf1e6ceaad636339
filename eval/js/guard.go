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
// The engine's own ways to be interrupted bound nothing: it looks for an interrupt after every ten
// thousand calls or jumps, however long each takes, and never inside a built-in function. A search
// through a sparse array, a copy of a large one in a loop or a recursion into nested arrays goes on
// for minutes or years. So when time is up the guard makes the machine's memory inaccessible. No
// engine code does anything without touching it, so the next thing it does is a memory fault, which
// Go turns into a panic where a goroutine has asked for that. The goroutine unwinds to run, and the
// machine is thrown away.
//
// A guard is for one run, so that a timer that fires late finds nothing to stop.
type guard struct {
	mem      []byte // of the machine
	readable bool   // whether mem can be read after the machine was stopped

	mu      sync.Mutex
	running bool
	cause   error // why the machine was stopped; nil if it was not
}

// What stopped a program.
var (
	errTimeLimit = errors.New("time limit")
	errCPULimit  = errors.New("limit of processor time")
)

// limits say how long a program may run; 0 is none.
type limits struct {
	wall, cpu time.Duration
}

// A fault is an error of the engine: a Go panic that no guard caused.
type fault struct {
	value any
	stack []byte
}

func (f *fault) Error() string { return fmt.Sprintf("js: the engine failed: %v", f.value) }

// run calls f and stops it when ctx is done or a limit has passed. The error is ctx's, errTimeLimit, errCPULimit or
// a *fault; it is nil only if f returned, and after any other the machine is unusable.
func (g *guard) run(ctx context.Context, most limits, f func()) error {
	g.running = true
	timer := time.AfterFunc(most.wall, func() { g.stop(errTimeLimit) })
	defer timer.Stop()
	if most.cpu > 0 {
		runtime.LockOSThread() // its clock is f's
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
		g.readable = permit(g.mem) == nil // what the program printed is still there
		return g.cause
	case broken != nil:
		return broken
	}
	return nil
}

// watch stops the machine when the calling thread has taken limit more of processor time, until the func that it returns
// is called. A thread takes no more of it than passes, so what is left is slept before it is asked again.
func (g *guard) watch(limit time.Duration) (end func()) {
	clock := threadClock()
	begin, ok := clock()
	if !ok { // the other limit binds alone
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
			if g.running { // else the run has ended since the timer fired
				timer.Reset(max(limit-(now-begin), time.Millisecond))
			}
		}
	})
	close(ready)
	return func() { timer.Stop() }
}

// call runs f and returns the panic that ended it, if any and if it was not this guard's doing.
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
		time.Sleep(wait) // the system is short of memory for its own tables
	}
}

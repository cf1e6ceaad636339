package sandbox

import (
	"cmp"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
)

// A Process is a started command.
type Process struct {
	pid, group int
	done       chan struct{}
	err        error
	release    []func() // called when it has ended
	crowded    atomic.Bool

	mu    sync.Mutex
	ended bool // then its id may soon be another's
}

// Start starts cmd on a thread that lives until the command ends: a process that must end with its parent ends with the
// thread that started it, and Go may end a thread at any time. When the command has ended, Start kills the rest of its
// process group.
func Start(cmd *exec.Cmd) (*Process, error) { return start(cmd, 0, nil) }

// start calls before, if it is not nil, on the thread that starts cmd; that thread is not used for anything else
// afterwards. The process gets its own group if group is 0.
func start(cmd *exec.Cmd, group int, before func() error) (*Process, error) {
	p := &Process{done: make(chan struct{})}
	started := make(chan error)
	onThread(before != nil, func() {
		defer close(p.done)
		var err error
		if before != nil {
			err = before()
		}
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			p.pid, p.group = cmd.Process.Pid, cmp.Or(group, cmd.Process.Pid)
		}
		started <- err
		if err == nil {
			p.follow(cmd, awaitExit(p.pid))
		}
	})
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// onThread runs f in a goroutine with a thread of its own, which is discarded afterwards if spoiled is set. The main
// thread cannot be discarded, so it is kept busy until another thread is found.
func onThread(spoiled bool, f func()) {
	go func() {
		runtime.LockOSThread()
		if !spoiled {
			defer runtime.UnlockOSThread()
			f()
			return
		}
		if !onMainThread() {
			f() // the thread ends with the goroutine, which is still locked to it
			return
		}
		found := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(found)
			f()
		}()
		<-found
		runtime.UnlockOSThread()
	}()
}

// elsewhere runs f on an unlocked thread, and waits for it.
func elsewhere(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Pid returns the process's id.
func (p *Process) Pid() int { return p.pid }

// Group returns the id of the process's group.
func (p *Process) Group() int { return p.group }

// Crowded reports whether the process was killed because its crowd was too large.
func (p *Process) Crowded() bool { return p.crowded.Load() }

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Kill kills the process and its group, and in a pid namespace everything in it. It does nothing when
// the process has ended.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		killGroup(p.group)
	}
}

// follow waits for the process and kills the rest of its group. exited means that the process has ended but was not
// reaped, so that its id is still taken.
func (p *Process) follow(cmd *exec.Cmd, exited bool) {
	if exited {
		elsewhere(p.end) // a confined thread may not
		p.err = cmd.Wait()
		return
	}
	p.err = cmd.Wait()
	p.end()
}

func (p *Process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	killRest(p.group)
}

// Wait waits for the end of the process and returns the error of [exec.Cmd.Wait].
func (p *Process) Wait() error {
	<-p.done
	for _, f := range p.release {
		f()
	}
	return p.err
}

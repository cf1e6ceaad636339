package python

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// ErrClosed is returned by a closed [Runner] or [Evaluator].
var ErrClosed = errors.New("python: closed")

// A pool holds up to size zygotes, which start on demand and are replaced when they die. It is safe for concurrent use.
type pool struct {
	kind *kind
	size int64
	sem  *semaphore.Weighted // a slot for each busy zygote

	mu     sync.Mutex
	closed bool
	idle   []*zygote
	busy   map[*zygote]bool

	removals chan struct{}  // bounds the removals beside evaluations
	removing sync.WaitGroup // waits for these
	stop     chan struct{}  // closed to end all removals
}

// newPool starts the first zygote, and returns its greeting.
func newPool(ctx context.Context, k *kind, size int) (*pool, hello, error) {
	z, h, err := startZygote(ctx, k)
	if err != nil {
		return nil, h, err
	}
	p := &pool{kind: k, size: int64(size), sem: semaphore.NewWeighted(int64(size)), idle: []*zygote{z},
		busy:     make(map[*zygote]bool),
		removals: make(chan struct{}, size), stop: make(chan struct{})}
	return p, h, nil
}

// do runs a candidate on a zygote. If the zygote dies, which may not be the candidate's fault, do runs the candidate
// once more on a fresh zygote. If that one dies too, the error is errDied. If no process can be made, do waits for one,
// for as long as the candidates under way may take. A limit on an evaluation's time need not count the wait for a slot,
// see [llm.Trace].Queued.
func (p *pool) do(ctx context.Context, j job) (execution, error) {
	served := llm.TraceOf(ctx).Queued()
	err := p.sem.Acquire(ctx, 1)
	served()
	if err != nil {
		return execution{}, fmt.Errorf("python: waiting for an interpreter: %w", err)
	}
	defer p.sem.Release(1)
	o, err := p.runPatiently(ctx, j, false)
	if errors.Is(err, errDied) {
		o, err = p.runPatiently(ctx, j, true)
	}
	return o, err
}

// forkPause is the first pause before another attempt to make a process.
const forkPause = 50 * time.Millisecond

// runPatiently is runOnce, but if a process cannot be made it pauses and tries again with a new zygote.
func (p *pool) runPatiently(ctx context.Context, j job, fresh bool) (execution, error) {
	o, err := p.runOnce(ctx, j, fresh)
	end := time.Now().Add(p.kind.patience)
	for pause := forkPause; errors.Is(err, errFork) && time.Now().Before(end); pause = min(2*pause, 2*time.Second) {
		p.kind.log.Warn("python: trying a new interpreter after a pause", "pause", pause, "why", printable.Line(err.Error()))
		select {
		case <-ctx.Done():
			return execution{}, fmt.Errorf("python: waiting for an interpreter: %w", ctx.Err())
		case <-time.After(pause):
		}
		o, err = p.runOnce(ctx, j, true)
	}
	return o, err
}

// runOnce runs a candidate on an idle zygote, or a fresh one.
func (p *pool) runOnce(ctx context.Context, j job, fresh bool) (execution, error) {
	z, err := p.take(ctx, fresh)
	if err != nil {
		return execution{}, err
	}
	o, err := z.do(ctx, j)
	removed := p.put(z, err == nil && o.clean)
	switch {
	case p.isClosed():
		return execution{}, ErrClosed
	case o.how == tooLong:
		return o, nil
	case err == nil && !removed:
		o.how = littered
	}
	return o, err
}

// take returns an idle zygote, or a new one.
func (p *pool) take(ctx context.Context, fresh bool) (*zygote, error) {
	for !fresh {
		z, err := p.pop()
		if err != nil {
			return nil, err
		}
		if z == nil {
			break
		}
		if !z.process.Ended() {
			return z, nil
		}
		p.put(z, false)
	}
	z, _, err := startZygote(ctx, p.kind)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("python: %w: %w", errFork, err) // one of this kind has been started before
		}
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.Join(ErrClosed, z.close())
	}
	p.busy[z] = true
	return z, nil
}

// pop marks an idle zygote as busy and returns it, nil if there is none.
func (p *pool) pop() (*zygote, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	n := len(p.idle) - 1
	if n < 0 {
		return nil, nil
	}
	z := p.idle[n]
	p.idle, p.busy[z] = p.idle[:n], true
	return z, nil
}

// put takes a zygote back, and ends it unless it is fit for another candidate. It reports whether everything that the
// zygote left was removed. A candidate can leave files that cannot be removed; that costs the candidate, and must not
// end a run.
func (p *pool) put(z *zygote, fit bool) bool {
	p.mu.Lock()
	delete(p.busy, z)
	if fit && !p.closed {
		p.idle = append(p.idle, z)
		p.mu.Unlock()
		return true
	}
	p.mu.Unlock()
	z.end()
	return p.remove(z)
}

// removeTime is how long an evaluation waits for the removal of its candidate's files.
const removeTime = time.Second

// remove removes the folder of an ended zygote. A long removal continues beside other evaluations, and counts as done.
// There are at most as many removals at once as evaluations, so candidates cannot leave folders faster than they are
// removed.
func (p *pool) remove(z *zygote) bool {
	p.removals <- struct{}{}
	done := make(chan error, 1)
	p.removing.Go(func() {
		err := z.removeScratch(p.stop)
		<-p.removals
		if err != nil {
			p.kind.log.Warn("python: a candidate's folder could not be removed", "folder", printable.Line(z.scratch), "why",
				printable.Line(short(err.Error())))
		}
		done <- err
	})
	timer := time.NewTimer(removeTime)
	defer timer.Stop()
	select {
	case err := <-done:
		return err == nil
	case <-timer.C:
		return true
	}
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// close ends all zygotes, even busy ones, and waits until they are gone. Folders that take long to remove are left to
// the next process that makes such folders.
func (p *pool) close() error {
	p.mu.Lock()
	if !p.closed {
		time.AfterFunc(endTime, func() { close(p.stop) })
	}
	p.closed = true
	idle := p.idle
	p.idle = nil
	for z := range p.busy {
		z.kill()
	}
	p.mu.Unlock()
	var errs []error
	for _, z := range idle {
		errs = append(errs, z.close())
	}
	_ = p.sem.Acquire(context.Background(), p.size) // no deadline, so no error
	p.sem.Release(p.size)
	p.removing.Wait()
	return errors.Join(errs...)
}

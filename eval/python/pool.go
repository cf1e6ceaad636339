package python

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
)

// ErrClosed is what a [Runner] or [Evaluator] returns that was closed.
var ErrClosed = errors.New("python: closed")

// A pool holds up to size zygotes, started as they are needed and replaced when they die. It is safe
// for concurrent use.
type pool struct {
	kind *kind
	size int64
	sem  *semaphore.Weighted // a place for each zygote at work

	mu     sync.Mutex
	closed bool
	idle   []*zygote
	busy   map[*zygote]bool
}

// newPool starts the first zygote, and returns what it found.
func newPool(ctx context.Context, k *kind, size int) (*pool, hello, error) {
	z, h, err := startZygote(ctx, k)
	if err != nil {
		return nil, h, err
	}
	p := &pool{kind: k, size: int64(size), sem: semaphore.NewWeighted(int64(size)), idle: []*zygote{z}, busy: make(map[*zygote]bool)}
	return p, h, nil
}

// do runs a candidate on a zygote. One that dies under a candidate is replaced and the candidate run
// once more, as it need not be to blame; if that ends the same way, the error is errDied.
func (p *pool) do(ctx context.Context, j job) (outcome, error) {
	if err := p.sem.Acquire(ctx, 1); err != nil {
		return outcome{}, fmt.Errorf("python: waiting for an interpreter: %w", err)
	}
	defer p.sem.Release(1)
	o, err := p.once(ctx, j)
	if errors.Is(err, errDied) {
		o, err = p.once(ctx, j)
	}
	return o, err
}

func (p *pool) once(ctx context.Context, j job) (outcome, error) {
	z, err := p.take(ctx)
	if err != nil {
		return outcome{}, err
	}
	o, err := z.do(ctx, j)
	if cleanup := p.put(z, err == nil && o.clean); cleanup != nil {
		return outcome{}, cleanup
	}
	if o.how == tooLong {
		return o, nil
	}
	return o, err
}

// take returns an idle zygote, or a new one.
func (p *pool) take(ctx context.Context) (*zygote, error) {
	for {
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
		if err := p.put(z, false); err != nil {
			return nil, err
		}
	}
	z, _, err := startZygote(ctx, p.kind)
	if err != nil {
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

// put takes a zygote back, and ends it unless it is fit for another candidate.
func (p *pool) put(z *zygote, fit bool) error {
	p.mu.Lock()
	delete(p.busy, z)
	if fit && !p.closed {
		p.idle = append(p.idle, z)
		p.mu.Unlock()
		return nil
	}
	closed := p.closed
	p.mu.Unlock()
	if err := z.close(); err != nil {
		return err
	}
	if closed {
		return ErrClosed
	}
	return nil
}

// close ends all zygotes, also under a candidate, and waits until they are gone.
func (p *pool) close() error {
	p.mu.Lock()
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
	return errors.Join(errs...)
}

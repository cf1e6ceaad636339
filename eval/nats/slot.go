package nats

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// A slot takes a job, scores it, and takes the next.
type slot struct {
	*Worker
	inbox *nats.Subscription // what it asked for comes here
}

// serve takes jobs as long as taking lasts, and works on them as long as working does.
func (w *Worker) serve(taking, working context.Context) {
	s := slot{Worker: w}
	for taking.Err() == nil {
		if m := s.next(taking); m != nil {
			w.work(taking, working, m)
		}
	}
}

// How long the slot that waits does so at one queue. With one queue it asks again at the end, so that a call is heard soon
// that names another. With several it does not see the others meanwhile; the more there are, the longer it waits, so that
// workers who have nothing to do do not ask more often.
const (
	waitAtOne  = time.Second
	waitAtMany = 100 * time.Millisecond // for each
)

// next takes a job, from each queue in turn. It returns nil if there is none for now. Of the slots that find none, one
// waits for the next.
func (s *slot) next(ctx context.Context) *nats.Msg {
	n := s.queues.wait(ctx)
	if m := s.round(ctx, n, 0); m != nil || ctx.Err() != nil {
		return m
	}
	select {
	case s.waiting <- true:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-s.waiting }()
	if n == 1 {
		return s.round(ctx, n, waitAtOne)
	}
	return s.round(ctx, n, min(waitAtMany*time.Duration(n), waitAtOne))
}

// round asks so many queues for a job, and waits at the last.
func (s *slot) round(ctx context.Context, n int, wait time.Duration) *nats.Msg {
	for i := range n {
		name, ok := s.queues.next()
		if !ok || ctx.Err() != nil {
			return nil
		}
		at := time.Duration(0)
		if i == n-1 {
			at = wait
		}
		// Not ended with ctx: a job that came after would be lost to all for as long as Lost.
		m, err := s.pull(name, at)
		switch {
		case m != nil:
			return m
		case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout): // the queue is gone, or for a moment the server
			s.queues.drop(name)
		case err != nil:
			sleep(ctx, 100*time.Millisecond)
		}
	}
	return nil
}

// pull takes the next job of a queue, waiting for it up to wait. It returns nil if there was none. An answer that is late
// must not be taken for that of the next pull, or the slot would have asked for a job while it works on one. So it gets
// another inbox then, and the server drops what was asked for the old one.
func (s *slot) pull(queue string, wait time.Duration) (*nats.Msg, error) {
	if s.inbox == nil {
		inbox, err := s.nc.SubscribeSync(s.nc.NewInbox())
		if err != nil {
			return nil, err
		}
		s.inbox = inbox
	}
	m, err := pull(s.nc, s.inbox, s.cfg.Server.jobs(), queue, wait)
	if err != nil && !errors.Is(err, nats.ErrNoResponders) {
		s.inbox.Unsubscribe()
		s.inbox = nil
	}
	return m, err
}

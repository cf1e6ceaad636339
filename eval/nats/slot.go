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
		w.room.open(taking)
		if m := s.next(taking); m != nil && w.work(taking, working, m) {
			sleep(taking, afterFailure)
		}
	}
}

// afterFailure is how long a slot does nothing after its evaluator failed, so that another worker takes the job.
const afterFailure = time.Second

// How long a slot waits at a queue. If the worker has fewer free slots than queues, one that waits does not see the others.
// The more there are the longer it waits, so that workers who have nothing to do do not ask more often: a job then
// waits for up to a second.
const (
	waitAtOne  = time.Second
	waitAtMany = 100 * time.Millisecond // for each
)

// next takes a job, from each queue in turn. It returns nil if there was none for a while.
func (s *slot) next(ctx context.Context) *nats.Msg {
	for _, name := range s.queues.free(time.Now()) {
		if m := s.take(ctx, name, 0); m != nil || ctx.Err() != nil {
			return m
		}
	}
	name, unseen := s.queues.hold(ctx)
	if name == "" {
		return nil
	}
	defer s.queues.letGo(name)
	wait := waitAtOne
	if unseen > 0 {
		wait = min(waitAtOne, waitAtMany*time.Duration(unseen))
	}
	return s.take(ctx, name, wait)
}

// take takes the next job of a queue, or returns nil. It takes none while a suspect is here.
func (s *slot) take(ctx context.Context, name string, wait time.Duration) *nats.Msg {
	if !s.room.isOpen() {
		return nil
	}
	m, err := s.pull(name, wait) // not ended with ctx: a job that came after would be lost to all for as long as Lost
	switch {
	case m != nil:
		s.queues.took(name)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout): // the queue is gone, or for a moment the server
		s.queues.drop(name)
	case err != nil:
		sleep(ctx, 100*time.Millisecond)
	}
	return m
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

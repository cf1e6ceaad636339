package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// A slot takes and scores one job after another.
type slot struct {
	*Worker
	inbox *nats.Subscription // for the jobs that the slot asks for
}

// serve takes jobs until taking ends, and scores them until working ends.
func (w *Worker) serve(taking, working context.Context) {
	s := slot{Worker: w}
	for taking.Err() == nil {
		w.room.awaitNoSuspect(taking)
		if m := s.next(taking); m != nil && w.work(taking, working, m) {
			sleep(taking, afterFailure)
		}
	}
}

// afterFailure is how long a slot pauses after its evaluator failed, so that another worker takes the job.
const afterFailure = time.Second

// How long a slot waits at one queue. With fewer free slots than queues, the jobs of other queues wait meanwhile, for
// up to a second. The more queues there are, the longer the wait, so that idle workers do not ask more often.
const (
	waitAtOne  = time.Second
	waitAtMany = 100 * time.Millisecond // at each of several queues
)

// next takes a job, from each queue in turn, or returns nil if none came for a while.
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
	defer s.queues.release(name)
	wait := waitAtOne
	if unseen > 0 {
		wait = min(waitAtOne, waitAtMany*time.Duration(unseen))
	}
	return s.take(ctx, name, wait)
}

// take takes the next job of a queue, or returns nil. While there is a suspect, it takes none.
func (s *slot) take(ctx context.Context, name string, wait time.Duration) *nats.Msg {
	if s.room.hasSuspect() {
		return nil
	}
	m, err := s.pull(name, wait) // not canceled with ctx: a job that arrived afterwards would be stuck for as long as Lost
	switch {
	case m != nil:
		s.queues.took(name)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout): // the queue or the server is gone
		s.queues.drop(name)
	case err != nil:
		sleep(ctx, 100*time.Millisecond)
	}
	return m
}

// pull takes the next job of a queue, waiting for it up to wait, or returns nil. After an error the slot gets a new
// inbox, so that a late answer is not taken for that of the next pull; the server drops requests of the old inbox.
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

// pull takes the next message of a consumer, waiting for it up to wait, or returns nil. The answer comes to inbox,
// which belongs to one slot. The API's own Fetch returns a second after wait, so a job that came later would be stuck
// until its worker counts as dead. The API's Messages requests the next job while the slot still works on another.
func pull(nc *nats.Conn, inbox *nats.Subscription, stream, consumer string, wait time.Duration) (*nats.Msg, error) {
	ask := fmt.Sprintf(`{"batch":1,"expires":%d}`, wait)
	if wait == 0 {
		ask = `{"batch":1,"no_wait":true}`
	}
	if err := nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+stream+"."+consumer, inbox.Subject, []byte(ask)); err != nil {
		return nil, err
	}
	m, err := inbox.NextMsg(wait + replyTimeout)
	switch {
	case err != nil:
		return nil, err
	case m.Reply != "":
		return m, nil
	}
	switch status := m.Header.Get("Status"); status {
	case "404", "408":
		return nil, nil
	case "503":
		return nil, nats.ErrNoResponders
	default:
		return nil, fmt.Errorf("nats: the queue %s: %s %s", consumer, status, m.Header.Get("Description"))
	}
}

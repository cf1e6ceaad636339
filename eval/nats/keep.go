package nats

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/internal/printable"
)

const (
	reviewTogether = 16 // jobs that it is asked about at a time

	calling      = time.Second      // between calls
	review       = 10 * time.Second // after which the server is asked about a job again
	reviewAtOnce = 100              // jobs that it is asked about in one pass
	reviewWithin = 10 * time.Second // for a pass
	answering    = 5 * time.Second  // between the answers of a worker to one run; it answers sooner if more or fewer slots are busy
	silence      = 3 * answering    // after which a worker is gone
	requeue      = time.Minute      // between makings of the queue, which is there unless nobody asked for it for long
)

// each calls do now and each second until ctx ends.
func each(ctx context.Context, do func()) {
	tick := time.NewTicker(calling)
	defer tick.Stop()
	for {
		do()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// keepCalling calls for workers, and sees to it that there are some.
func (e *Evaluator) keepCalling(ctx context.Context) {
	each(ctx, func() {
		e.call()
		e.look(time.Now())
	})
}

// keepReviewing sees to jobs whose result or place in the queue may have got lost. It waits for the server.
func (e *Evaluator) keepReviewing(ctx context.Context) {
	each(ctx, func() {
		if !e.nc.IsConnected() {
			return
		}
		e.remake(ctx)
		e.review(ctx)
		e.clear(ctx)
	})
}

// remake makes what the server has to have, now and then and after each connection: it may have come back without.
func (e *Evaluator) remake(ctx context.Context) {
	e.mu.Lock()
	due := time.Since(e.made) > requeue
	e.mu.Unlock()
	if !due {
		return
	}
	err := e.cfg.Server.setUp(ctx, e.nc, e.cfg.Limits)
	if err == nil {
		err = e.cfg.Server.queue(ctx, e.nc, e.cfg.Task, e.run, e.cfg.Lost)
	}
	if err != nil {
		if ctx.Err() == nil && e.said.due("remake") {
			e.cfg.Logger.Warn("nats: the run's queue may be gone, and is not made again for now", "error", printable.Line(err.Error()))
		}
		return
	}
	e.mu.Lock()
	e.made = time.Now()
	e.mu.Unlock()
	e.forgetAdopted()
}

// forgetAdopted has the queues of other runs made again when they are next seen, and leaves runs whose queues have no job
// that this one waits for.
func (e *Evaluator) forgetAdopted() {
	e.mu.Lock()
	defer e.mu.Unlock()
	needed := map[string]bool{}
	for _, w := range e.jobs {
		needed[w.queue] = true
	}
	for run, a := range e.adopted {
		a.sure = false
		if !needed[run] {
			a.told.Unsubscribe()
			delete(e.adopted, run)
		}
	}
}

// call tells workers of the queues that this run's jobs are in: its own, and those of runs that queued the same.
func (e *Evaluator) call() {
	c := call{Run: e.run, Task: e.cfg.Task.Name, Digest: e.cfg.Task.Digest, Queues: []string{e.run}}
	e.mu.Lock()
	others := map[string]bool{}
	for _, w := range e.jobs {
		if w.queue != "" && w.queue != e.run && !others[w.queue] && len(others) < maxQueues-1 {
			others[w.queue] = true
			c.Queues = append(c.Queues, w.queue)
		}
	}
	e.mu.Unlock()
	text, _ := json.Marshal(c)
	e.nc.Publish(e.cfg.Server.subject("call", e.cfg.Task.token()), text) // or the next time
}

// maxQueues is how many queues a call names.
const maxQueues = 100

// review asks the server about jobs that it was not asked about for a while.
func (e *Evaluator) review(ctx context.Context) {
	e.mu.Lock()
	var due []*waiting
	now := time.Now()
	for _, w := range e.jobs {
		if now.Sub(w.checked) > review && len(due) < reviewAtOnce {
			w.checked = now
			due = append(due, w)
		}
	}
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, reviewWithin)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(reviewTogether)
	for _, w := range due {
		all.Go(func() error {
			if e.nc.IsConnected() {
				e.post(ctx, w)
			}
			return nil
		})
	}
	all.Wait()
}

// askAll has the server asked about all jobs soon, and about the queue: what it said meanwhile did not get here.
func (e *Evaluator) askAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made = time.Time{}
	for _, w := range e.jobs {
		w.checked = time.Time{}
	}
}

// look forgets workers that are silent, gives up where nobody is left to serve, and says what is to be known. It logs
// without the lock, as a logger may ask for Stats.
func (e *Evaluator) look(now time.Time) {
	jobs, err := e.hopeless(now)
	if err != nil {
		e.fail(err)
	}
	if jobs > 0 {
		e.cfg.Logger.Warn("nats: no worker is left: the run waits", "task", printable.Line(e.cfg.Task.Name), "digest", printable.Line(e.cfg.Task.Digest), "jobs", jobs, "for", e.cfg.Gone)
	}
	if slots := e.idle(); slots > 0 {
		e.cfg.Logger.Warn("nats: slots stay idle: raise Config.InFlight (--parallel-eval of the examples) above the number of slots", "slots", slots, "in flight", e.cfg.InFlight)
	}
}

// hopeless returns an error if waiting cannot help any more. jobs is how many wait though nobody is left, told once.
func (e *Evaluator) hopeless(now time.Time) (jobs int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.workers.forget(now)
	for digest, heard := range e.others {
		if now.Sub(heard) > silence {
			delete(e.others, digest)
		}
	}
	if e.workers.len() > 0 || len(e.jobs) == 0 {
		return 0, nil
	}
	if e.served.IsZero() {
		if now.Sub(e.began) > e.cfg.Unserved {
			return 0, e.unserved()
		}
		return 0, nil
	}
	if !e.warned {
		e.warned, jobs = true, len(e.jobs)
	}
	if since := later(e.served, e.began); e.cfg.Gone >= 0 && now.Sub(since) > e.cfg.Gone {
		return jobs, e.unserved()
	}
	return jobs, nil
}

// idle returns the number of slots if some stay idle because the run may not queue more, once, and otherwise 0.
func (e *Evaluator) idle() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	slots := 0
	for _, w := range e.workers.here {
		slots += w.slots
	}
	if e.advised || len(e.jobs) < e.cfg.InFlight || slots <= e.cfg.InFlight {
		return 0
	}
	e.advised = true
	return slots
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// random returns 16 random hexadecimal digits.
func random() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

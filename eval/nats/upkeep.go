package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/internal/printable"
)

const (
	callInterval   = time.Second      // between calls
	answerInterval = 5 * time.Second  // between a worker's answers to one run, unless the number of busy slots changes
	setUpInterval  = 10 * time.Second // between checks that the streams and the queue exist
	reviewWithin   = 10 * time.Second // bounds one pass over the jobs
	reviewTogether = 16               // jobs that the server is asked about at once
)

// each calls do now and each second until ctx ends.
func each(ctx context.Context, do func()) {
	tick := time.NewTicker(callInterval)
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

// keepCalling calls for workers each second, and fails the evaluations if no worker answers.
func (e *Evaluator) keepCalling(ctx context.Context) {
	text, _ := json.Marshal(call{Run: e.run, Task: e.cfg.Task.Name, Digest: e.cfg.Task.Digest, Incarnation: random()})
	last := time.Now()
	each(ctx, func() {
		e.nc.Publish(e.cfg.Server.subject("call", e.cfg.Task.token()), text) // if that fails, the next call is in time
		now := time.Now()
		e.follow(e.table.adviseSince(e.cfg, last, now))
		last = now
	})
}

// adviseSince is advise, for the first time since last. If that is long ago, the process did not run meanwhile.
func (t *table) adviseSince(cfg Config, last, now time.Time) advice {
	if d := now.Sub(last) - callInterval; d > answerInterval {
		t.slept(d, now)
	}
	return t.advise(cfg, now)
}

// follow acts on advice: it logs warnings, and fails all evaluations if no worker can be expected to come.
func (e *Evaluator) follow(a advice) {
	t := e.cfg.Task
	if a.hopeless {
		e.table.fail(e.unserved())
	}
	if a.waiting > 0 {
		e.cfg.Logger.Warn("nats: no worker is left, so the run waits", "task", printable.Line(t.Name),
			"digest", printable.Line(t.Digest), "jobs", a.waiting, "for", e.cfg.Gone)
	}
	if a.idleSlots > 0 {
		e.cfg.Logger.Warn("nats: slots stay idle: raise Config.InFlight (--parallel-eval of the examples) above their number",
			"slots", a.idleSlots, "in flight", e.cfg.InFlight)
	}
}

// unserved returns the error of a run whose task no worker serves.
func (e *Evaluator) unserved() error {
	t := e.cfg.Task
	if !e.nc.IsConnected() {
		return fmt.Errorf("nats: the server at %v has been out of reach for too long: start it again and resume the run",
			e.cfg.Server)
	}
	others := e.table.others()
	if len(others) == 0 {
		return fmt.Errorf("nats: no worker of the task %q answers at %v, of any version; this run's digest is %s: "+
			"start workers with the same task, or check the permissions of their subjects",
			t.Name, e.cfg.Server, t.Digest)
	}
	return fmt.Errorf("nats: no worker serves the task %q with this run's digest %s; those that answer at %v have %v: "+
		"give both the same folder, evaluator, runtime and flags",
		t.Name, t.Digest, e.cfg.Server, others)
}

// keepReviewing restores what the server or the network may lose: the queue, a job, a result.
func (e *Evaluator) keepReviewing(ctx context.Context) {
	made := time.Now()
	each(ctx, func() {
		if !e.nc.IsConnected() {
			return
		}
		if e.reconnected.Swap(false) || time.Since(made) > setUpInterval {
			if err := e.setUp(ctx); err == nil {
				made = time.Now()
			} else if e.reconnected.Store(true); ctx.Err() == nil && e.logged.due("queue") {
				e.cfg.Logger.Warn("nats: the run's queue may be missing and could not be made again, retrying",
					"error", printable.Line(err.Error()))
			}
		}
		e.review(ctx)
		e.clear(ctx)
	})
}

// review posts overdue jobs again.
func (e *Evaluator) review(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reviewWithin)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(reviewTogether)
	for _, j := range e.table.overdue(time.Now()) {
		all.Go(func() error {
			e.pursue(ctx, j, post)
			return nil
		})
	}
	all.Wait()
}

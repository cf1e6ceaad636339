package remote

import (
	"context"
	"errors"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/task"
)

// A Queue is where the programs of a run go, of one task or of several. One goroutine opens it, has its evaluators made
// and leaves it. Without --nats it leads nowhere: tasks score their programs themselves.
type Queue struct {
	server  nats.Server
	here    *here // nil unless the server is in this process
	scorers []*nats.Evaluator
}

// Open returns the queue that the flags name. If they say so it starts a server in this process.
func Open(o *cli.Options) (*Queue, error) {
	q := &Queue{server: Server(o)}
	switch o.NATS.URL {
	case "":
		return q, nil
	case cli.Embedded:
		var err error
		if q.here, err = start(); err != nil {
			return nil, err
		}
		q.server = nats.Server{InProcess: q.here.server}
	}
	o.Workers = q.workers
	return q, nil
}

// Evaluator returns what scores the programs of t: t itself, or workers if --nats is given. o are the flags of t.
func (q *Queue) Evaluator(ctx context.Context, o *cli.Options, t task.Task) (eval.Evaluator, error) {
	if q.server.URL == "" && q.here == nil {
		return t, nil
	}
	id, err := Task(ctx, o, t)
	if err != nil {
		return nil, err
	}
	var unserved time.Duration
	if q.here != nil {
		unserved = time.Minute // its worker is on its way, however busy the machine
		if err := q.here.work(q.server, id, t); err != nil {
			return nil, err
		}
	}
	e, err := nats.New(ctx, nats.Config{
		Server: q.server, Task: id, Run: o.RunName(), InFlight: o.ParallelEval, Unserved: unserved,
	})
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	q.scorers = append(q.scorers, e)
	cli.Printf("programs are scored by workers of the task %v at %v\n", id, q.server)
	return e, nil
}

// workers returns those that score programs by now, of all tasks.
func (q *Queue) workers() (all cli.Workers) {
	for _, e := range q.scorers {
		s := e.Stats()
		all = all.Plus(cli.Workers{Workers: s.Workers, Slots: s.Slots, Busy: s.Busy, Jobs: s.Waiting - s.Begun,
			Redelivered: s.Redelivered})
	}
	return all
}

// Leave says what the workers did, and ends what was begun in this process.
func (q *Queue) Leave() {
	if len(q.scorers) > 0 {
		w, done, recalled := q.workers(), 0, 0
		for _, e := range q.scorers {
			s := e.Stats()
			done, recalled = done+s.Done, recalled+s.Recalled
		}
		cli.Printf("workers: %d with %d slots at the end; %d evaluations, of them %d known before; %d jobs went to another "+
			"worker\n",
			w.Workers, w.Slots, done, recalled, w.Redelivered)
	}
	if err := q.close(); err != nil {
		cli.Printf("leaving the workers: %v\n", err)
	}
}

func (q *Queue) close() error {
	var errs []error
	for _, e := range q.scorers {
		errs = append(errs, e.Close())
	}
	if q.here != nil {
		errs = append(errs, q.here.close())
	}
	return errors.Join(errs...)
}

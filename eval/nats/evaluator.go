package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
)

// An Evaluator scores programs by workers. It prints as its task's name, as a task does, so a journal that was begun
// without workers goes on with them, and the other way round. It is safe for concurrent use. Close it when all its
// evaluations have ended.
type Evaluator struct {
	cfg    Config
	run    string // the name of its queue
	nc     *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream // of jobs
	table  *table
	logged complaints

	inFlight *semaphore.Weighted // cfg.InFlight slots
	// posting bounds simultaneous posts: with many thousands, the server's answers would come too late.
	posting     *semaphore.Weighted
	reconnected atomic.Bool // since the queue was last set up
	posted      atomic.Bool // whether this process tried to queue a job
	stop        context.CancelFunc
	background  sync.WaitGroup
}

var _ eval.Sampler = (*Evaluator)(nil)

const postingAtOnce = 256

// Stats are the state of a run's evaluations.
type Stats struct {
	Workers     int // heard from in the last seconds
	Slots       int // of these workers
	Busy        int // of the slots, for any run
	Waiting     int // jobs of this run that are queued or under way
	Begun       int // of these, the jobs that a worker has begun
	Done        int // evaluations that ended with a result
	Recalled    int // of these, the ones whose result was stored already
	Redelivered int // later deliveries of these, because a worker ended, hung, failed or was busy with another suspect
	Refused     int // results that did not fit their subject
}

// New connects, and makes the missing streams and a queue for this run. ctx bounds only New itself.
func New(ctx context.Context, cfg Config) (*Evaluator, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	e := &Evaluator{
		cfg: cfg, run: cfg.queueName(), table: newTable(),
		inFlight: semaphore.NewWeighted(int64(cfg.InFlight)), posting: semaphore.NewWeighted(postingAtOnce),
	}
	opening, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	if e.nc, err = cfg.Server.connect(ctx, asRun, "evoalloc run "+e.run, func(err error) {
		refuse(err) // the server does not answer what it refuses
		e.table.close(err)
	}); err != nil {
		return nil, err
	}
	if err := e.open(opening); err != nil {
		e.nc.Close()
		if opening.Err() != nil {
			err = context.Cause(opening)
		}
		return nil, err
	}
	e.nc.SetReconnectHandler(func(*nats.Conn) {
		e.reconnected.Store(true)
		e.table.recheck()
	})
	lifetime, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.background.Go(func() { e.keepCalling(lifetime) })
	e.background.Go(func() { e.keepReviewing(lifetime) })
	return e, nil
}

// open sets up the server, and subscribes to results and notices.
func (e *Evaluator) open(ctx context.Context) (err error) {
	s, t := e.cfg.Server, e.cfg.Task
	if e.js, err = api(e.nc); err != nil {
		return err
	}
	if err := e.setUp(ctx); err != nil {
		return err
	}
	if e.stream, err = e.js.Stream(ctx, s.jobs()); err != nil {
		return fmt.Errorf("nats: looking for the stream %s: %w", s.jobs(), err)
	}
	if _, err := e.nc.Subscribe(s.subject("results", t.token(), t.Digest, "*"), e.hearResult); err != nil {
		return err
	}
	if _, err := e.nc.Subscribe(s.subject("told", e.run, "*"), e.hearWorker); err != nil {
		return err
	}
	return e.nc.FlushTimeout(replyTimeout)
}

// setUp makes the streams and the run's queue, unless they exist.
func (e *Evaluator) setUp(ctx context.Context) error {
	if err := e.cfg.Server.setUp(ctx, e.js, e.cfg.storage); err != nil {
		return err
	}
	return e.cfg.Server.queue(ctx, e.js, e.cfg.Task, e.run, e.cfg.Lost)
}

// String returns the task's name.
func (e *Evaluator) String() string { return e.cfg.Task.Name }

// Evaluate has a worker score program. It returns when the result has arrived, ctx ends, or no worker serves the task.
// It reports the wait for a worker to the Queued of ctx's [llm.Trace].
func (e *Evaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return e.EvaluateSample(ctx, program, 0)
}

// EvaluateSample scores program as the sample-th independent evaluation, whose result is kept by that number.
func (e *Evaluator) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	if len(program) > MaxProgram {
		return eval.Invalid("the program has %d bytes, more than the %d that are sent to a worker",
			len(program), MaxProgram), nil
	}
	served := sync.OnceFunc(llm.TraceOf(ctx).Queued())
	defer served()
	if err := e.inFlight.Acquire(ctx, 1); err != nil {
		return eval.Result{}, fmt.Errorf("nats: waiting for one of %d jobs in flight: %w", e.cfg.InFlight, context.Cause(ctx))
	}
	defer e.inFlight.Release(1)
	for tries := 1; ; tries++ {
		r, err := e.wait(ctx, e.job(program, sample), served)
		if err != nil {
			return eval.Result{}, err
		}
		result, err := e.resultOf(ctx, r)
		if !errors.Is(err, errNoObject) || tries == 3 {
			return result, err
		}
		if err := e.forget(ctx, r.Key); err != nil { // and evaluate the program again
			return eval.Result{}, err
		}
	}
}

func (e *Evaluator) job(program string, sample int) job {
	return job{
		Task: e.cfg.Task, Key: keyOf(e.cfg.Apart, program, sample), Apart: e.cfg.Apart, Sample: sample, Run: e.run,
		Program: program, Deaths: e.cfg.Deaths, Lost: e.cfg.Lost, Timeout: e.cfg.Timeout,
	}
}

// wait returns a job's result, from a worker or from the server. It calls served when a worker begins the job.
func (e *Evaluator) wait(ctx context.Context, j job, served func()) (record, error) {
	d, next, err := e.table.join(j, time.Now())
	if err != nil {
		return record{}, err
	}
	defer func() { e.pursue(context.Background(), j, e.table.leave(d)) }()
	if next == post {
		e.postFirst(ctx, j)
	}
	select {
	case <-d.began:
		served()
	case <-d.done:
	case <-ctx.Done():
	}
	select {
	case <-d.done:
		return d.record, d.err
	case <-ctx.Done():
		return record{}, fmt.Errorf("nats: waiting for a worker's result: %w", context.Cause(ctx))
	}
}

// Stats returns the state of the evaluations.
func (e *Evaluator) Stats() Stats { return e.table.snapshot() }

// Close removes the run's queue and disconnects. Results stay for other runs. Evaluations that have not ended fail. A
// queue to which this Evaluator posted nothing stays, as a process of the same name may be using it.
func (e *Evaluator) Close() error {
	e.stop()
	e.background.Wait()
	e.table.close(errors.New("nats: the evaluator is closed"))
	for end := time.Now().Add(closingWithin); !e.table.idle() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closingWithin)
	defer cancel()
	if e.nc.IsConnected() && (e.posted.Load() || e.cfg.Run == "") { // or the server removes both after a while
		e.stream.Purge(ctx, jetstream.WithPurgeSubject(e.cfg.Server.subject("jobs", "*", "*", "*", e.run)))
		e.stream.DeleteConsumer(ctx, e.run)
	}
	e.nc.Close()
	return nil
}

// closingWithin bounds how long Close waits, first for evaluations and then for the server.
const closingWithin = 2 * time.Second

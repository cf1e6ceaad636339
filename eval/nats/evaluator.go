package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// Config configures an [Evaluator]. Server and Task are needed, and the rest has defaults.
type Config struct {
	Server Server
	// Task is what programs are scored on. Workers with another digest get none of its programs.
	Task Task
	// InFlight bounds the jobs queued or under way at once; further evaluations wait in this process. An eighth more than
	// the workers' slots keeps all slots busy. 0 means 256.
	InFlight int
	// Lost is how long a worker may be silent before its job goes to another, at least 1 s: the AckWait of the task's
	// consumer. Runs of a task at the same time must have the same. Choose one and a half times the longest network outage
	// that must cost nothing. 0 means 15 s.
	Lost time.Duration
	// MaxDeliver is how many workers may get a program without a result, because they ended, hung, were cut off or gave it
	// back, before the program is invalid. 0 means 5.
	MaxDeliver int
	// Apart separates results: only runs with the same Apart share them. "" shares with all runs that have none.
	Apart string
	// Unserved is how long evaluations may wait for a first worker of the task before they fail. 0 means 5 s.
	Unserved time.Duration
	// Gone is how long they may wait after all workers have left or are out of reach. 0 means 10 minutes, less than 0
	// forever.
	Gone time.Duration
	// Logger logs that no worker is left, and what is refused. nil means slog.Default.
	Logger *slog.Logger
}

func (c Config) filled() (Config, error) {
	var err error
	if c.Server, err = c.Server.filled(); err != nil {
		return c, err
	}
	if err := c.Task.validate(); err != nil {
		return c, err
	}
	c.InFlight, c.MaxDeliver = cmp.Or(c.InFlight, 256), cmp.Or(c.MaxDeliver, 5)
	c.Lost, c.Unserved = cmp.Or(c.Lost, 15*time.Second), cmp.Or(c.Unserved, 5*time.Second)
	c.Gone, c.Logger = cmp.Or(c.Gone, 10*time.Minute), cmp.Or(c.Logger, slog.Default())
	switch {
	case c.InFlight < 1:
		return c, fmt.Errorf("nats: Config.InFlight is %d: need at least 1", c.InFlight)
	case c.Lost < time.Second: // a heartbeat every fifth of it must get through
		return c, fmt.Errorf("nats: Config.Lost is %v: need at least 1s", c.Lost)
	case c.MaxDeliver < 1:
		return c, fmt.Errorf("nats: Config.MaxDeliver is %d: need at least 1", c.MaxDeliver)
	case c.Unserved < 0:
		return c, fmt.Errorf("nats: Config.Unserved is %v: need more than 0", c.Unserved)
	}
	return c, nil
}

// An Evaluator scores programs by workers. It prints as its task's name, as a task does, so a journal that was begun
// without workers goes on with them, and the other way round. It is safe for concurrent use. Close it when all its
// evaluations have ended.
type Evaluator struct {
	cfg     Config
	nc      *nats.Conn
	js      jetstream.JetStream
	results jetstream.KeyValue
	waits   *waits
	workers *workers

	inFlight   *semaphore.Weighted // cfg.InFlight slots
	warned     sync.Once           // that the server refuses jobs
	stop       context.CancelFunc
	background sync.WaitGroup
}

var _ eval.Sampler = (*Evaluator)(nil)

// Stats are the state of a run's evaluations.
type Stats struct {
	Workers     int // heard from in the last seconds
	Slots       int // of these workers
	Busy        int // of the slots, for any run
	Waiting     int // jobs of this run that are queued or under way
	Begun       int // of these, the jobs that a worker has begun
	Done        int // jobs that ended with a result, or with an error of the evaluator
	Recalled    int // of these, the ones whose result was stored already
	Redelivered int // later deliveries of these, because a worker ended, hung, failed or gave the job back
}

// New connects, and makes the streams and the consumer of the task that are missing. ctx bounds only New itself, which
// may take some seconds longer to connect.
func New(ctx context.Context, cfg Config) (*Evaluator, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	e := &Evaluator{
		cfg: cfg, waits: newWaits(), workers: newWorkers(cfg.Task.Digest),
		inFlight: semaphore.NewWeighted(int64(cfg.InFlight)),
	}
	opening, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	if e.nc, e.js, err = cfg.Server.connect(asRun, "evoalloc run", func(err error) {
		refuse(err) // the server does not answer what it refuses
		e.waits.close(err)
	}); err != nil {
		return nil, err
	}
	lifetime, stop := context.WithCancel(context.Background())
	e.stop = stop
	if err := e.open(opening, lifetime); err != nil {
		stop()
		e.nc.Close()
		if opening.Err() != nil {
			err = context.Cause(opening)
		}
		return nil, err
	}
	e.background.Go(func() { e.keepWatch(lifetime) })
	return e, nil
}

// open sets up the server, and listens to results until lifetime ends, and to workers.
func (e *Evaluator) open(ctx, lifetime context.Context) (err error) {
	s, t := e.cfg.Server, e.cfg.Task
	if e.results, err = s.setUp(ctx, e.js, t, e.cfg.Lost); err != nil {
		return err
	}
	stored, err := e.results.Watch(lifetime, t.token()+"."+t.Digest+".*", jetstream.UpdatesOnly(), jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("nats: watching the bucket %s: %w", s.results(), err)
	}
	e.background.Go(func() { e.hearResults(stored.Updates()) })
	began := func(m *nats.Msg) { e.waits.begin(lastToken(m.Subject)) }
	if _, err := e.nc.Subscribe(s.subject("began", t.token(), t.Digest, "*"), began); err != nil {
		return err
	}
	if _, err := e.nc.Subscribe(s.subject("here", t.token(), "*"), e.workers.hear); err != nil {
		return err
	}
	return e.nc.FlushTimeout(replyWithin)
}

// hearResults takes in the results of the task that workers store, for this run or another.
func (e *Evaluator) hearResults(stored <-chan jetstream.KeyValueEntry) {
	for entry := range stored {
		if key := lastToken(entry.Key()); e.waits.has(key) {
			if r, err := readRecord(entry.Value()); err == nil {
				e.waits.end(key, r, false)
			}
		}
	}
}

// String returns the task's name.
func (e *Evaluator) String() string { return e.cfg.Task.Name }

// Evaluate has a worker score program. It returns when the result has arrived, ctx ends, or no worker serves the task.
// It reports the wait for a worker to the Queued of ctx's [llm.Trace].
func (e *Evaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return e.EvaluateSample(ctx, program, 0)
}

// askAgain is when the server is asked again about a job: it may have lost the job, or this process the result.
const askAgain = 5 * time.Second

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
	j := job{Task: e.cfg.Task, key: keyOf(e.cfg.Apart, program, sample), sample: sample, maxDeliver: e.cfg.MaxDeliver,
		program: program}
	one, err := e.waits.join(j.key, served)
	if err != nil {
		return eval.Result{}, err
	}
	defer e.leave(j, one)
	for first := true; ; first = false {
		pause := askAgain
		if err := e.post(ctx, j, first); err != nil && ctx.Err() == nil {
			e.postFailed(err)
			pause = time.Second
		}
		select {
		case <-one.done:
			return e.result(one)
		case <-ctx.Done():
			return eval.Result{}, fmt.Errorf("nats: waiting for a worker's result: %w", context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// post looks for the result of a job, and queues the job if there is none. A job that is queued already, by this process
// or another one, stays queued.
func (e *Evaluator) post(ctx context.Context, j job, first bool) error {
	r, err := lookup(ctx, e.results, j, first)
	if err != nil {
		return err
	}
	if r != nil {
		e.waits.end(j.key, *r, first)
		return nil
	}
	_, err = e.js.PublishMsg(ctx, j.message(e.cfg.Server), jetstream.WithExpectLastSequencePerSubject(0))
	if isPresent(err) {
		return nil
	}
	return err
}

// postFailed logs that a job could not be queued. The first refusal by the server is a warning, since it may last.
func (e *Evaluator) postFailed(err error) {
	log := e.cfg.Logger.Debug
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) {
		e.warned.Do(func() { log = e.cfg.Logger.Warn })
	}
	log("nats: queuing a job failed, retrying: if the stream is full, raise its bytes or wait for the jobs of other runs",
		"stream", e.cfg.Server.jobs(), "error", printable.Line(err.Error()))
}

// result returns the outcome of a job that is done.
func (e *Evaluator) result(one *wait) (eval.Result, error) {
	r := one.record
	switch {
	case one.err != nil:
		return eval.Result{}, one.err
	case r.Error != "":
		return eval.Result{}, fmt.Errorf("nats: a job failed %d times, last on %s: %s",
			r.Tries, printable.Line(r.Worker), printable.Line(r.Error))
	}
	return r.Result.Clone(), nil
}

// leaveWithin bounds what an evaluation waits for the server when it is canceled.
const leaveWithin = 2 * time.Second

// leave ends an evaluation's wait. The last one to leave a job without an outcome removes it from the queue and has its
// worker stop. If another run waits for the job, that one queues it again.
func (e *Evaluator) leave(j job, one *wait) {
	if !e.waits.leave(j.key, one) || !e.nc.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	s := e.cfg.Server
	if jobs, err := e.js.Stream(ctx, s.jobs()); err == nil {
		jobs.Purge(ctx, jetstream.WithPurgeSubject(j.subject(s))) // or a worker evaluates it in vain
	}
	e.nc.Publish(s.subject("cancel", j.resultKey()), nil)
}

// keepWatch fails the evaluations if no worker can be expected to come.
func (e *Evaluator) keepWatch(ctx context.Context) {
	tick := time.NewTicker(tickInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		waiting := e.waits.snapshot().Waiting
		alone, ever := e.workers.tick(waiting > 0)
		switch {
		case !ever && alone > e.cfg.Unserved, ever && e.cfg.Gone >= 0 && alone > e.cfg.Gone:
			e.waits.fail(e.unserved())
		case ever && alone == tickInterval:
			e.cfg.Logger.Warn("nats: no worker is left, so the run waits", "task", printable.Line(e.cfg.Task.Name),
				"digest", printable.Line(e.cfg.Task.Digest), "jobs", waiting, "for", e.cfg.Gone)
		}
	}
}

// unserved returns the error of a run whose task no worker serves.
func (e *Evaluator) unserved() error {
	s, t := e.cfg.Server, e.cfg.Task
	if !e.nc.IsConnected() {
		return fmt.Errorf("nats: the server at %v has been out of reach for too long: start it again and resume the run", s)
	}
	others := e.workers.others()
	if len(others) == 0 {
		return fmt.Errorf("nats: no worker of the task %q answers at %v, of any version; this run's digest is %s: "+
			"start workers with the same task, or check the permissions of their subjects", t.Name, s, t.Digest)
	}
	return fmt.Errorf("nats: no worker serves the task %q with this run's digest %s; those that answer at %v have %v: "+
		"give both the same folder, evaluator, runtime and flags", t.Name, t.Digest, s, others)
}

// Stats returns the state of the evaluations.
func (e *Evaluator) Stats() Stats {
	s := e.waits.snapshot()
	s.Workers, s.Slots, s.Busy = e.workers.count()
	return s
}

// Close disconnects. Results stay for other runs. Evaluations that have not ended fail.
func (e *Evaluator) Close() error {
	e.stop()
	e.waits.close(errors.New("nats: the evaluator is closed"))
	e.nc.Close()
	e.background.Wait()
	return nil
}

package nats

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/semaphore"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// WorkerConfig configures a [Worker]. Server, Task and Evaluator are needed, and the rest has defaults.
type WorkerConfig struct {
	Server Server
	// Task is what Evaluator scores programs on.
	Task Task
	// Evaluator scores and contains the programs: the worker adds no containment.
	Evaluator eval.Evaluator
	// Slots is the number of programs evaluated at once. 0 means 1.
	Slots int
	// Name is the worker's name in logs: 1 to 100 printable characters. "" means the host's name and the process's number.
	Name string
	// Timeout bounds the time of one evaluation, in case the evaluator's own limits fail. The job is then delivered again,
	// as if the program had ended this worker. 0 means an hour.
	Timeout time.Duration
	// Grace is how long evaluations under way may go on when the worker is stopped; after that their jobs are given back.
	// 0 means 10 s, less than 0 no grace.
	Grace time.Duration
	// Logger logs failures of the evaluator, and what is refused. nil means slog.Default.
	Logger *slog.Logger
	// Serving is called by Run once the worker is connected. nil means no call.
	Serving func()
}

func (c WorkerConfig) filled() (WorkerConfig, error) {
	var err error
	if c.Server, err = c.Server.filled(); err != nil {
		return c, err
	}
	if err := c.Task.validate(); err != nil {
		return c, err
	}
	host, _ := os.Hostname()
	c.Slots, c.Grace = cmp.Or(c.Slots, 1), cmp.Or(c.Grace, 10*time.Second)
	c.Timeout, c.Logger = cmp.Or(c.Timeout, time.Hour), cmp.Or(c.Logger, slog.Default())
	c.Name = printable.Line(cmp.Or(c.Name, fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:4])))
	switch {
	case c.Evaluator == nil:
		return c, errors.New("nats: WorkerConfig.Evaluator is nil")
	case c.Slots < 1:
		return c, fmt.Errorf("nats: WorkerConfig.Slots is %d: need at least 1", c.Slots)
	case c.Timeout < 0:
		return c, fmt.Errorf("nats: WorkerConfig.Timeout is %v: need more than 0", c.Timeout)
	case len(c.Name) > maxName:
		return c, fmt.Errorf("nats: WorkerConfig.Name has %d bytes: need at most %d", len(c.Name), maxName)
	}
	return c, nil
}

// A Worker takes the jobs of a task and scores them with an evaluator of its own machine. Its methods are safe for
// concurrent use.
type Worker struct {
	cfg WorkerConfig

	nc    *nats.Conn
	js    jetstream.JetStream
	key   string              // public key of its NKey
	slots *semaphore.Weighted // a job takes one, and one that is delivered again takes all
	fatal context.CancelCauseFunc

	mu     sync.Mutex
	active map[string]context.CancelCauseFunc // of jobs that the worker holds, by their keys
	inARow int                                // failures of the evaluator since its last result
	stats  WorkerStats
}

// WorkerStats counts a worker's jobs.
type WorkerStats struct {
	Done     int // jobs whose results were stored
	Invalid  int // of these, the programs that are invalid
	Known    int // jobs that already had a result
	Canceled int // jobs that their runs canceled
	Failed   int // jobs whose evaluator failed
}

// NewWorker returns a Worker. Call its Run.
func NewWorker(cfg WorkerConfig) (*Worker, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	return &Worker{
		cfg: cfg, slots: semaphore.NewWeighted(int64(cfg.Slots)), active: map[string]context.CancelCauseFunc{},
	}, nil
}

// Stats returns the counts so far.
func (w *Worker) Stats() WorkerStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// count updates the statistics.
func (w *Worker) count(change func(*WorkerStats)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.stats)
}

// Run serves until ctx ends, which is not an error. Call it once. It returns an error if the server is out of reach at
// the start or refuses what the worker needs, and if the evaluator fails three times in a row. When ctx ends,
// evaluations under way may go on for the grace period.
func (w *Worker) Run(ctx context.Context) (err error) {
	taking, fatal := context.WithCancelCause(ctx)
	defer fatal(nil)
	w.fatal = fatal
	s, t := w.cfg.Server, w.cfg.Task
	if w.key, err = s.publicKey(); err != nil {
		return err
	}
	if w.nc, w.js, err = s.connect(asWorker, "evoalloc worker "+w.cfg.Name, fatal); err != nil {
		return err
	}
	defer w.nc.Close()
	if _, err := w.nc.Subscribe(s.subject("cancel", t.token(), t.Digest, "*"), w.hearCancellation); err != nil {
		return err
	}
	if err := w.nc.FlushTimeout(replyWithin); err != nil {
		return fmt.Errorf("nats: listening at %v: %w", s, err)
	}
	if w.cfg.Serving != nil {
		w.cfg.Serving()
	}
	working, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(taking, func() {
		sleep(working, max(w.cfg.Grace, 0))
		end()
	})()
	var all sync.WaitGroup
	all.Go(func() { w.beat(taking) })
	for taking.Err() == nil {
		if err := w.serve(taking, working, &all); err != nil && taking.Err() == nil {
			w.cfg.Logger.Debug("nats: taking jobs failed, retrying", "error", printable.Line(err.Error()))
			sleep(taking, bindAgain)
		}
	}
	all.Wait()
	w.nc.FlushTimeout(time.Second)
	if ctx.Err() == nil {
		return context.Cause(taking)
	}
	return nil
}

// bindAgain is how often a worker looks for the queue of its task, until a run has made it.
const bindAgain = 500 * time.Millisecond

// beat tells runs that the worker is there, until ctx ends.
func (w *Worker) beat(ctx context.Context) {
	subject := w.cfg.Server.subject("here", w.cfg.Task.token(), w.key)
	for ; ctx.Err() == nil; sleep(ctx, beatInterval) {
		w.mu.Lock()
		h := heartbeat{Worker: w.cfg.Name, Digest: w.cfg.Task.Digest, Slots: w.cfg.Slots, Busy: len(w.active)}
		w.mu.Unlock()
		text, _ := json.Marshal(h)
		w.nc.Publish(subject, text) // if that fails, the next one is in time
	}
}

// errCanceled ends the evaluation of a job that its run canceled.
var errCanceled = errors.New("nats: the run canceled the job")

// hearCancellation stops a job that its run cancels. One that arrives just now is evaluated in vain.
func (w *Worker) hearCancellation(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.active[lastToken(m.Subject)]; stop != nil && !reflected(m.Header) {
		stop(errCanceled)
	}
}

// serve starts one job after another until taking ends or the queue is lost; working ends them. It asks for a job when a
// slot is free, and for one at a time, so that no job waits here while another worker has a free slot.
func (w *Worker) serve(taking, working context.Context, all *sync.WaitGroup) error {
	s := w.cfg.Server
	results, err := w.js.KeyValue(taking, s.results())
	if err != nil {
		return err
	}
	consumer, err := w.js.Consumer(taking, s.jobs(), w.cfg.Task.consumer())
	if err != nil {
		return err
	}
	jobs, err := consumer.Messages(jetstream.PullMaxMessages(1))
	if err != nil {
		return err
	}
	defer jobs.Stop()
	for {
		if err := w.slots.Acquire(taking, 1); err != nil {
			return err
		}
		m, err := jobs.Next(jetstream.NextContext(taking))
		if err != nil {
			w.slots.Release(1)
			return err
		}
		ctx, d := w.hold(working, m, results, consumer.CachedInfo().Config.AckWait)
		weight := int64(1)
		if d.tries > 1 && w.slots.Acquire(taking, int64(w.cfg.Slots)-1) == nil {
			weight = int64(w.cfg.Slots)
		}
		all.Go(func() {
			defer w.slots.Release(weight)
			defer d.release()
			w.work(taking, ctx, d)
		})
	}
}

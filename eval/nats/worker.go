package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// A Worker takes the jobs of a task and scores them with an evaluator of its own machine. Its methods are safe for
// concurrent use.
type Worker struct {
	cfg WorkerConfig

	nc     *nats.Conn
	js     jetstream.JetStream
	key    string // public key of its NKey
	queues *queues
	room   *room

	mu            sync.Mutex
	active        map[*activeJob]bool
	cancellations cancellations
	answers       map[string]answer // by run
	inARow        int               // failures of the evaluator since its last result
	stats         WorkerStats
	stopping      bool
	fatal         context.CancelCauseFunc

	logged complaints
}

// WorkerStats counts a worker's jobs.
type WorkerStats struct {
	Done     int // jobs whose results were stored
	Invalid  int // of these, the programs that are invalid
	Known    int // jobs that already had a result
	Poisoned int // jobs that had killed too many workers, declared invalid without an evaluation
	Canceled int // jobs that their runs canceled
	Failed   int // jobs whose evaluator failed
	Refused  int // malformed or forged jobs
	Unlike   int // runs of the task with another digest, which were not served
}

// errorsInARow is the number of consecutive evaluator errors that ends a worker, which would otherwise waste the jobs
// of all others.
const errorsInARow = 3

// NewWorker returns a Worker. Call its Run.
func NewWorker(cfg WorkerConfig) (*Worker, error) {
	var err error
	if cfg.Server, err = cfg.Server.filled(); err != nil {
		return nil, err
	}
	if err := cfg.Task.validate(); err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	cfg.Slots, cfg.Grace = cmp.Or(cfg.Slots, 1), cmp.Or(cfg.Grace, 10*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Name = printable.Line(cmp.Or(cfg.Name, fmt.Sprintf("%s-%d-%s", host, os.Getpid(), random()[:4])))
	switch {
	case cfg.Evaluator == nil:
		return nil, errors.New("nats: WorkerConfig.Evaluator is nil")
	case cfg.Slots < 1:
		return nil, fmt.Errorf("nats: WorkerConfig.Slots is %d: need at least 1", cfg.Slots)
	case len(cfg.Name) > maxName:
		return nil, fmt.Errorf("nats: WorkerConfig.Name has %d bytes: need at most %d", len(cfg.Name), maxName)
	}
	return &Worker{
		cfg: cfg, queues: newQueues(), room: newRoom(cfg.Slots), active: map[*activeJob]bool{}, answers: map[string]answer{},
	}, nil
}

// Stats returns the counts so far.
func (w *Worker) Stats() WorkerStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Run serves until ctx ends, which is not an error. Call it once. It returns an error if the server is out of reach at
// the start or refuses what the worker needs, and if the evaluator fails three times in a row. When ctx ends,
// evaluations under way may go on for the grace period.
func (w *Worker) Run(ctx context.Context) error {
	taking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.fatal = stop
	var err error
	if w.key, err = w.cfg.Server.publicKey(); err != nil {
		return err
	}
	nc, err := w.cfg.Server.connect(ctx, asWorker, "evoalloc worker "+w.cfg.Name, stop)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	defer nc.Close()
	w.nc = nc
	if w.js, err = api(nc); err != nil {
		return err
	}
	nc.SetReconnectHandler(func(*nats.Conn) { w.beat() })
	if err := w.listen(); err != nil {
		return err
	}
	if w.cfg.Serving != nil {
		w.cfg.Serving()
	}
	working, end := w.graceful(taking)
	defer end()
	var slots sync.WaitGroup
	for range w.cfg.Slots {
		slots.Go(func() { w.serve(taking, working) })
	}
	slots.Wait()
	nc.FlushTimeout(time.Second)
	if ctx.Err() == nil {
		return context.Cause(taking)
	}
	return nil
}

// graceful returns a context that outlives taking by the grace period.
func (w *Worker) graceful(taking context.Context) (working context.Context, end func()) {
	working, cancel := context.WithCancel(context.WithoutCancel(taking))
	var mu sync.Mutex
	var timer *time.Timer
	off := context.AfterFunc(taking, func() {
		mu.Lock()
		defer mu.Unlock()
		w.mu.Lock()
		w.stopping = true
		w.mu.Unlock()
		timer = time.AfterFunc(max(w.cfg.Grace, 0), cancel)
	})
	return working, func() {
		off()
		cancel()
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
	}
}

// listen subscribes to the calls and cancellations of runs.
func (w *Worker) listen() error {
	s, t := w.cfg.Server, w.cfg.Task
	if _, err := w.nc.Subscribe(s.subject("call", t.token()), w.hearCall); err != nil {
		return err
	}
	if _, err := w.nc.Subscribe(s.subject("cancel", t.token()), w.hearCancellation); err != nil {
		return err
	}
	return w.nc.FlushTimeout(replyTimeout)
}

// count updates the statistics.
func (w *Worker) count(change func(*WorkerStats)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.stats)
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

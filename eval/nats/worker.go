package nats

import (
	"context"
	"encoding/json"
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
	key    string // public key of what it shows the server
	queues *queues
	room   *room

	mu       sync.Mutex
	running  map[*running]bool
	givenUp  cancellations // of which some came before their jobs were begun
	runs     map[string]told
	inARow   int // evaluations whose evaluator failed
	stats    WorkerStats
	stopping bool
	fatal    context.CancelCauseFunc

	logged complaints
}

// told is what a run was told last.
type told struct {
	at          time.Time
	busy        int
	incarnation string // of the run
}

// running is a job under way.
type running struct {
	job
	m        *nats.Msg
	tries    int    // deliveries, this one included
	sequence uint64 // of the job in the stream
	cancel   context.CancelFunc
	givenUp  bool // by its run
	counted  bool // whether the job's history has this delivery as a death until it is given back
}

// WorkerStats count what a worker did.
type WorkerStats struct {
	Done     int // jobs scored, their results stored
	Invalid  int // of these, the programs that are invalid
	Known    int // jobs that had a result already
	Poisoned int // jobs that had ended too many workers, found invalid without an evaluation
	GivenUp  int // jobs that their runs gave up
	Failed   int // jobs whose evaluator failed
	Refused  int // jobs that are not what they say
	Unlike   int // runs of the task with another digest, which were not served
}

// errorsInARow is after how many errors of its evaluator a worker ends: it would have all jobs of the others.
const errorsInARow = 3

// NewWorker returns a Worker of which Run is to be called.
func NewWorker(cfg WorkerConfig) (*Worker, error) {
	var err error
	if cfg.Server, err = cfg.Server.filled(); err != nil {
		return nil, err
	}
	if err := cfg.Task.validate(); err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	cfg.Slots, cfg.Grace, cfg.Logger = or(cfg.Slots, 1), or(cfg.Grace, 10*time.Second), or(cfg.Logger, slog.Default())
	cfg.Name = printable.Line(or(cfg.Name, fmt.Sprintf("%s-%d-%s", host, os.Getpid(), random()[:4])))
	switch {
	case cfg.Evaluator == nil:
		return nil, errors.New("nats: WorkerConfig.Evaluator is nil")
	case cfg.Slots < 1:
		return nil, fmt.Errorf("nats: WorkerConfig.Slots is %d: need at least 1", cfg.Slots)
	case len(cfg.Name) > maxName:
		return nil, fmt.Errorf("nats: WorkerConfig.Name has %d bytes: need at most %d", len(cfg.Name), maxName)
	}
	return &Worker{
		cfg: cfg, queues: newQueues(), room: newRoom(cfg.Slots), running: map[*running]bool{}, runs: map[string]told{},
	}, nil
}

// Stats returns what the worker did so far.
func (w *Worker) Stats() WorkerStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Run serves until ctx ends, which is not an error. It is to be called once. It returns an error if the server cannot be
// reached in the beginning or refuses what the worker needs, and if the evaluator fails three times in a row: such a
// worker would take the others' jobs for nothing. When ctx ends, evaluations under way may go on for the grace
// period.
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

// graceful returns a context that ends the grace period after taking does.
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

// listen hears of runs and of jobs that they give up.
func (w *Worker) listen() error {
	s, t := w.cfg.Server, w.cfg.Task
	if _, err := w.nc.Subscribe(s.subject("call", t.token()), w.called); err != nil {
		return err
	}
	if _, err := w.nc.Subscribe(s.subject("cancel", t.token()), w.cancel); err != nil {
		return err
	}
	return w.nc.FlushTimeout(asking)
}

// called answers a run, and takes note of its queues if it wants this digest.
func (w *Worker) called(m *nats.Msg) {
	var c call
	if reflected(m) || json.Unmarshal(m.Data, &c) != nil ||
		c.Task != w.cfg.Task.Name || !names.MatchString(c.Run) {
		return
	}
	alike := c.Digest == w.cfg.Task.Digest
	if alike {
		w.queues.name(c.Run, time.Now())
	}
	w.mu.Lock()
	before, known := w.runs[c.Run]
	answer := told{time.Now(), len(w.running), c.Incarnation}
	due := (answer.at.Sub(before.at) > answering || before.busy != answer.busy || before.incarnation != answer.incarnation) && !w.stopping
	if due {
		w.forgetRuns()
		w.runs[c.Run] = answer
	}
	if !known && !alike {
		w.stats.Unlike++
	}
	n := notice{Kind: "here", Worker: w.cfg.Name, Digest: w.cfg.Task.Digest, Slots: w.cfg.Slots, Busy: len(w.running)}
	w.mu.Unlock()
	if !known && !alike {
		w.cfg.Logger.Warn("nats: a run is not served: its version of the task is another", "task", printable.Line(w.cfg.Task.Name), "its digest", printable.Line(c.Digest), "own digest", printable.Line(w.cfg.Task.Digest))
	}
	if due {
		w.tell(c.Run, n)
	}
}

// forgetRuns drops runs that have not called for long. The caller holds the lock.
func (w *Worker) forgetRuns() {
	for run, last := range w.runs {
		if time.Since(last.at) > time.Hour {
			delete(w.runs, run)
		}
	}
}

// tell tells a run something. What gets lost is said again, or done without.
func (w *Worker) tell(run string, n notice) {
	text, _ := json.Marshal(n)
	w.nc.Publish(w.cfg.Server.subject("told", run, w.key), text)
}

// sleep waits, but not longer than ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

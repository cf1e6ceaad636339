package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/semaphore"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// An Evaluator scores programs by workers. It prints as its task's name, as a task does, so a journal that was
// begun without workers goes on with them, and the other way round. It is safe for concurrent use. Close it when all its
// evaluations have ended.
type Evaluator struct {
	cfg    Config
	nc     *nats.Conn
	run    string
	places *semaphore.Weighted
	// posting bounds how many ask the server at once. The answer to one of many thousands would come too late.
	posting *semaphore.Weighted
	end     context.CancelFunc
	ended   sync.WaitGroup

	mu      sync.Mutex
	jobs    map[string]*waiting
	began   time.Time // when the first of jobs was asked for
	workers workers
	others  map[string]time.Time // digests that workers of the task serve and this run does not ask for, when last heard
	served  time.Time            // when a worker of the digest was last heard; zero before
	warned  bool                 // that none is left
	advised bool                 // that more could be in flight
	adopted map[string]*adoption // by run
	kept    map[string]bool      // keys of jobs that stay in this run's queue for another run, as far as they have no result
	full    bool                 // whether the server said something against a job since the last review
	made    time.Time            // when what the server has to have was last seen to be there
	leaving int                  // evaluations that take their job back
	stats   Stats
	failed  error // the server refuses what this needs, or this is closed

	said complaints
}

// An adoption is another run whose queue has jobs that this run waits for, too.
type adoption struct {
	told *nats.Subscription // what workers tell that run
	sure bool               // that its queue is there
}

var _ eval.Sampler = (*Evaluator)(nil)

const postingAtOnce = 256

// Stats tell how a run's evaluations go.
type Stats struct {
	Workers     int // that were heard of in the last seconds
	Slots       int // of these workers
	Busy        int // of the slots, for whichever run
	Waiting     int // jobs of this run that are queued or under way
	Begun       int // of these, the ones that a worker has begun
	Done        int // evaluations that brought a result
	Recalled    int // of these, results that were there already
	Redelivered int // deliveries of these after the first, because a worker ended, hung, failed or had another suspect
	Refused     int // results that were not what their subject says
}

// New connects, makes the streams that are not there and a queue for this run. ctx is for that only.
func New(ctx context.Context, cfg Config) (*Evaluator, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	e := &Evaluator{
		cfg: cfg, run: random(), places: semaphore.NewWeighted(int64(cfg.InFlight)), posting: semaphore.NewWeighted(postingAtOnce),
		jobs: map[string]*waiting{}, workers: newWorkers(), others: map[string]time.Time{}, adopted: map[string]*adoption{}, kept: map[string]bool{},
	}
	opening, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	if e.nc, err = cfg.Server.connect(ctx, asRun, "evoalloc run "+e.run, func(err error) {
		refuse(err) // what the server refuses it does not answer
		e.refused(err)
	}); err != nil {
		return nil, err
	}
	if err := e.setUp(opening); err != nil {
		e.nc.Close()
		if opening.Err() != nil {
			err = context.Cause(opening)
		}
		return nil, err
	}
	e.made = time.Now()
	e.nc.SetReconnectHandler(func(*nats.Conn) { e.askAll() })
	keeping, end := context.WithCancel(context.Background())
	e.end = end
	e.ended.Go(func() { e.keepCalling(keeping) })
	e.ended.Go(func() { e.keepReviewing(keeping) })
	return e, nil
}

// setUp makes what the server has to have, and listens.
func (e *Evaluator) setUp(ctx context.Context) error {
	s, t := e.cfg.Server, e.cfg.Task
	if err := s.setUp(ctx, e.nc, e.cfg.Limits); err != nil {
		return err
	}
	if err := s.queue(ctx, e.nc, t, e.run, e.cfg.Lost); err != nil {
		return err
	}
	if _, err := e.nc.Subscribe(s.subject("results", t.token(), t.Digest, "*"), e.arrived); err != nil {
		return err
	}
	if _, err := e.nc.Subscribe(s.subject("told", e.run, "*"), e.told); err != nil {
		return err
	}
	return e.nc.FlushTimeout(asking)
}

// String returns the task's name.
func (e *Evaluator) String() string { return e.cfg.Task.Name }

// Evaluate scores program by a worker. It returns when the worker's result is there, ctx ends, or no worker serves the
// task. While it waits for a worker, the Queued of ctx's [llm.Trace] has been called.
func (e *Evaluator) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return e.EvaluateSample(ctx, program, 0)
}

// EvaluateSample scores program as the sample-th independent evaluation, whose result is kept by that number.
func (e *Evaluator) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	if len(program) > MaxProgram {
		return eval.Invalid("the program has %d bytes, more than the %d that are sent to a worker", len(program), MaxProgram), nil
	}
	served := sync.OnceFunc(llm.TraceOf(ctx).Queued())
	defer served()
	if err := e.places.Acquire(ctx, 1); err != nil {
		return eval.Result{}, fmt.Errorf("nats: waiting for one of %d jobs in flight: %w", e.cfg.InFlight, context.Cause(ctx))
	}
	defer e.places.Release(1)
	for tries := 1; ; tries++ {
		r, err := e.wait(ctx, program, sample, served)
		if err != nil {
			return eval.Result{}, err
		}
		result, err := e.whole(ctx, r)
		if !errors.Is(err, errNoObject) || tries == 3 {
			return result, err
		}
		if err := e.forget(ctx, r.Key); err != nil { // it is evaluated again, as if it never was
			return eval.Result{}, err
		}
	}
}

// wait returns what a worker, or the server, has of a sample of program. It calls served when a worker begins.
func (e *Evaluator) wait(ctx context.Context, program string, sample int, served func()) (record, error) {
	w, first, err := e.join(program, sample)
	if err != nil {
		return record{}, err
	}
	defer e.leave(w)
	if first && e.posting.Acquire(ctx, 1) != nil {
		e.soon(w) // others may wait for it by now
	} else if first {
		posted := make(chan struct{}) // by a goroutine that ends: this one's stack stays as small as waiting needs
		go func() {
			defer close(posted)
			e.post(ctx, w)
		}()
		<-posted
		e.posting.Release(1)
	}
	select {
	case <-w.began:
		served()
	case <-w.done:
	case <-ctx.Done():
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		return record{}, fmt.Errorf("nats: waiting for a worker's result: %w", context.Cause(ctx))
	}
	return w.record, w.err
}

// Stats returns how it goes.
func (e *Evaluator) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.Waiting = len(e.jobs)
	for _, w := range e.jobs {
		select {
		case <-w.began:
			s.Begun++
		default:
		}
	}
	for _, w := range e.workers.here {
		s.Workers, s.Slots, s.Busy = s.Workers+1, s.Slots+w.slots, s.Busy+w.busy
	}
	return s
}

// Close removes the run's queue, unless another run waits for a job in it, and disconnects. Results stay for others.
// Evaluations that have not ended fail.
func (e *Evaluator) Close() error {
	e.end()
	e.ended.Wait()
	e.refused(errors.New("nats: the evaluator is closed"))
	for end := time.Now().Add(closingWithin); e.open() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	e.mu.Lock()
	keep := len(e.kept) > 0
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closingWithin)
	defer cancel()
	if js, err := api(e.nc); err == nil && e.nc.IsConnected() && !keep {
		js.DeleteConsumer(ctx, e.cfg.Server.jobs(), e.run) // or it goes when nobody has asked for it in an hour
	}
	e.nc.Close()
	return nil
}

// closingWithin bounds what Close waits for evaluations, and for the server.
const closingWithin = 2 * time.Second

// open reports whether evaluations have not returned, or take their jobs back.
func (e *Evaluator) open() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.jobs) > 0 || e.leaving > 0
}

// refused ends all evaluations, for good: the server does not allow what they need, say.
func (e *Evaluator) refused(err error) {
	e.mu.Lock()
	e.failed = err
	e.mu.Unlock()
	e.fail(err)
}

// refusal returns the error that ended all evaluations for good, or nil.
func (e *Evaluator) refusal() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}

// told takes in what a worker says, to this run or to one whose job this run waits for, too. Of a job that another run
// wants, that run says so itself.
func (e *Evaluator) told(m *nats.Msg) {
	var n notice
	run, key, _ := strings.Cut(strings.TrimPrefix(m.Subject, e.cfg.Server.subject("told")+"."), ".")
	if reflected(m) || json.Unmarshal(m.Data, &n) != nil ||
		n.Worker == "" || len(n.Worker) > maxName || (n.Kind == "wanted") != (key == asRun) {
		return
	}
	from := sender{key, printable.Line(n.Worker)}
	own := run == e.run
	if n.Kind == "here" && own && e.heard(from, n) {
		e.cfg.Logger.Debug("nats: a worker serves the run", "worker", printable.Line(n.Worker), "slots", n.Slots)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	w, ok := e.jobs[n.Key]
	switch {
	case !ok:
	case n.Kind == "began":
		w.begin()
	case n.Kind == "failed":
		w.failedOn(from, printable.Line(cut(n.Error)), &e.workers)
	case n.Kind == "wanted" && own:
		w.wanted = true
	}
}

// heard notes a worker, and reports whether it is a new one that serves the run.
func (e *Evaluator) heard(from sender, n notice) (added bool) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if n.Digest != e.cfg.Task.Digest {
		if digests.MatchString(n.Digest) && len(e.others) < 100 {
			e.others[n.Digest] = now
		}
		return false
	}
	e.served, e.warned = now, false
	return e.workers.heard(from, here{min(max(n.Slots, 0), maxSlots), min(max(n.Busy, 0), maxSlots), now})
}

// unserved returns the error of a run whose task nobody serves. The caller holds the lock.
func (e *Evaluator) unserved() error {
	t := e.cfg.Task
	if !e.nc.IsConnected() {
		return fmt.Errorf("nats: the server at %v has been out of reach for too long: start it again and resume the run", e.cfg.Server)
	}
	if len(e.others) == 0 {
		return fmt.Errorf("nats: no worker of the task %q answers at %v, of any version; this run's digest is %s: start workers with the same task, or look at their subjects' permissions",
			t.Name, e.cfg.Server, t.Digest)
	}
	return fmt.Errorf("nats: no worker serves the task %q with this run's digest %s; those that answer at %v have %v: give both the same folder, evaluator, runtime and flags",
		t.Name, t.Digest, e.cfg.Server, slices.Sorted(maps.Keys(e.others)))
}

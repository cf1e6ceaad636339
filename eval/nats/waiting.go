package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// A waiting is a job that evaluations of this run wait for. Its Evaluator's lock guards what changes.
type waiting struct {
	job
	waiters  int
	queue    string    // the run whose queue has it; "" as long as that is not known
	sequence uint64    // of it in the stream; 0 as long as that is not known
	checked  time.Time // when the server was last asked about it
	again    bool      // what the server says of it now may be over soon: it is to be asked once more
	began    chan struct{}
	done     chan struct{}
	record   record // once done
	err      error  // once done
	over     bool
	wanted   bool // by another run, which waits for it in this run's queue
	failures int
	failed   map[sender]bool // workers whose evaluators failed
}

// join returns the job of a sample of program. first is whether this is the first that waits for it.
func (e *Evaluator) join(program string, sample int) (w *waiting, first bool, err error) {
	key := keyOf(e.cfg.Apart, program, sample)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return nil, false, e.failed
	}
	if w, ok := e.jobs[key]; ok {
		w.waiters++
		return w, false, nil
	}
	if len(e.jobs) == 0 {
		e.began = time.Now()
	}
	w = &waiting{
		job: job{
			Task: e.cfg.Task, Key: key, Apart: e.cfg.Apart, Sample: sample, Run: e.run, Program: program,
			Deaths: e.cfg.Deaths, Lost: e.cfg.Lost, Timeout: e.cfg.Timeout,
		},
		waiters: 1, checked: time.Now(), wanted: e.kept[key], began: make(chan struct{}), done: make(chan struct{}),
	}
	e.jobs[key] = w
	return w, true, nil
}

// leave is called by each that joined. The last takes a job without a result back.
func (e *Evaluator) leave(w *waiting) {
	e.mu.Lock()
	w.waiters--
	last := w.waiters == 0
	if last && e.jobs[w.Key] == w {
		delete(e.jobs, w.Key)
	}
	var gone *canceled
	if last && !w.scored() {
		gone = e.left(w)
	}
	e.mu.Unlock()
	e.takeBack(w, gone)
}

// scored reports whether it has a result. The caller holds the lock.
func (w *waiting) scored() bool { return w.over && w.err == nil }

// left returns what workers are told of a job for which no evaluation waits. It returns nil if the job stays, because it is
// in another run's queue or another run waits for it. The caller holds the lock, and calls takeBack without it.
func (e *Evaluator) left(w *waiting) *canceled {
	switch {
	case w.queue != "" && w.queue != e.run:
		return nil
	case w.wanted && !w.scored():
		e.kept[w.Key] = true
		return nil
	}
	e.leaving++
	return &canceled{Digest: w.Digest, Key: w.Key, Run: e.run, Sequence: w.sequence}
}

// takeBack takes a job out of this run's queue, unless gone is nil.
func (e *Evaluator) takeBack(w *waiting, gone *canceled) {
	if gone == nil {
		return
	}
	if e.nc.IsConnected() {
		e.remove(w, *gone)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaving--
	if since, ok := e.jobs[w.Key]; ok { // asked for again, it may have found the job that is gone now
		since.checked, since.again = time.Time{}, true
	}
}

// remove removes a job of this run's queue and has its worker, if it has one, give it up. It does not return before
// the server has answered, so that a run that ends leaves nothing. Should that fail, the evaluation is made in vain.
func (e *Evaluator) remove(w *waiting, gone canceled) {
	s := e.cfg.Server
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	filter, _ := json.Marshal(map[string]string{"filter": s.subject("jobs", w.token(), w.Digest, w.Key, e.run)})
	e.nc.RequestWithContext(ctx, "$JS.API.STREAM.PURGE."+s.jobs(), filter)
	if gone.Sequence == 0 && e.waits(w) != nil {
		return // asked for again, it may be queued again: that one is not meant
	}
	text, _ := json.Marshal(gone)
	e.nc.Publish(s.subject("cancel", w.token()), text)
}

// begin notes that a worker evaluates it.
func (w *waiting) begin() {
	select {
	case <-w.began:
	default:
		close(w.began)
	}
}

// failuresAllowed is how many workers' evaluators may fail with a job.
const failuresAllowed = 3

// failedOn notes that a worker's evaluator failed. The job ends with it if it failed often enough, on workers of enough
// keys: one that lies can invent workers, but no keys.
func (w *waiting) failedOn(from sender, text string, all *workers) {
	if w.failed == nil {
		w.failed = map[sender]bool{}
	}
	keys := map[string]int{}
	for known := range w.failed {
		keys[known.key]++
	}
	if keys[from.key] < failuresAllowed { // more from one key tell nothing new
		w.failed[from] = true
		keys[from.key]++
	}
	others := 0
	for key := range all.keys {
		if keys[key] == 0 {
			others++
		}
	}
	w.failures++
	enough := w.failures >= failuresAllowed && len(w.failed) >= min(failuresAllowed, all.len())
	if enough && len(keys) >= min(failuresAllowed, len(keys)+others) {
		w.finish(record{}, fmt.Errorf("nats: a job failed %d times, on %d workers, last on %s: %s",
			w.failures, len(w.failed), from.name, text))
	}
}

// finish ends it, once.
func (w *waiting) finish(r record, err error) {
	if !w.over {
		w.over, w.record, w.err = true, r, err
		close(w.done)
	}
}

// fail ends all jobs with an error.
func (e *Evaluator) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.jobs {
		w.finish(record{}, err)
	}
}

// arrived takes in a result. Those that nobody waits for are other runs'.
func (e *Evaluator) arrived(m *nats.Msg) {
	key := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	e.mu.Lock()
	w, ok := e.jobs[key]
	delete(e.kept, key)
	e.mu.Unlock()
	if ok {
		e.take(w, m, false)
	}
}

// take takes in the result of a job. It reports whether it is one.
func (e *Evaluator) take(w *waiting, m *nats.Msg, recalled bool) bool {
	r, err := readRecord(e.cfg.Server, e.cfg.Task, m.Subject, m.Data)
	if err != nil {
		e.cfg.Logger.Warn("nats: a result is refused", "subject", printable.Line(m.Subject), "why", printable.Line(err.Error()))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil:
		e.stats.Refused++
		return false
	case w.over:
		return true
	}
	e.stats.Done++
	if recalled && w.queue == "" {
		e.stats.Recalled++
	} else {
		e.stats.Redelivered += max(r.Tries, 1) - 1
	}
	if e.jobs[w.Key] == w { // and not another's that was asked for since
		delete(e.jobs, w.Key)
	}
	w.finish(r, nil)
	return true
}

// post looks the result of a job up, and queues the job if there is none. What fails is tried again by keep.
func (e *Evaluator) post(ctx context.Context, w *waiting) {
	s := e.cfg.Server
	m, err := lastOf(ctx, e.nc, s.results(), s.subject("results", w.token(), w.Digest, w.Key))
	switch {
	case err != nil:
		e.queuingFailed(err)
		e.soon(w)
	case m != nil:
		if !e.take(w, m, true) { // as long as it is stored, no other can be
			e.forget(ctx, w.Key)
			e.soon(w)
		}
	case e.waits(w) == w:
		e.enqueue(ctx, w)
	}
}

// enqueue queues a job, unless it is queued already, and notes where it is.
func (e *Evaluator) enqueue(ctx context.Context, w *waiting) {
	s, queue := e.cfg.Server, e.run
	sequence, err := storeNew(ctx, e.nc, w.message(s), s.subject("jobs", w.token(), w.Digest, w.Key, "*"))
	if present(err) {
		queue, sequence, err = e.holder(ctx, w)
	}
	if err != nil {
		e.queuingFailed(err)
		queue, sequence = "", 0 // it may be stored, and the server's answer lost
	}
	var api *apiError
	var gone *canceled
	e.mu.Lock()
	if w.checked = time.Now(); err != nil || w.again {
		w.checked, w.again = time.Time{}, false
	}
	if !errors.As(err, &api) { // what the server refuses is where it was
		w.queue, w.sequence = queue, sequence
	}
	if now := e.jobs[w.Key]; now == nil || now.over { // all left meanwhile
		gone = e.left(w)
	}
	e.mu.Unlock()
	e.takeBack(w, gone)
}

// soon has the server asked about a job soon.
func (e *Evaluator) soon(w *waiting) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.checked = time.Time{}
}

// waits returns what evaluations of w's program wait for now: w, another that was asked for since, or nil.
func (e *Evaluator) waits(w *waiting) *waiting {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.jobs[w.Key]; now != nil && !now.over {
		return now
	}
	return nil
}

// queuingFailed logs that a job is not queued yet. What the server itself says against it may stay so for long.
func (e *Evaluator) queuingFailed(err error) {
	log := e.cfg.Logger.Debug
	var api *apiError
	if errors.As(err, &api) {
		e.mu.Lock()
		e.full = true
		e.mu.Unlock()
		if e.said.due(api.Description) {
			log = e.cfg.Logger.Warn
		}
	}
	log("nats: queuing a job failed for now: if the stream is full, its bytes or those of the disk are to be raised, or it waits for others' jobs",
		"stream", e.cfg.Server.jobs(), "error", printable.Line(err.Error()))
}

// holder returns the run in whose queue a job is and the job's sequence in the stream. It sees to it that this queue is
// there, as that run may be long gone. What workers tell that run of the job is for this one, too.
func (e *Evaluator) holder(ctx context.Context, w *waiting) (run string, sequence uint64, err error) {
	s := e.cfg.Server
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	last, _ := json.Marshal(map[string]string{"last_by_subj": s.subject("jobs", w.token(), w.Digest, w.Key, "*")})
	m, err := e.nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+s.jobs(), last)
	if err != nil {
		return "", 0, err
	}
	subject := m.Header.Get("Nats-Subject")
	run = subject[strings.LastIndexByte(subject, '.')+1:]
	if run == "" {
		return "", 0, fmt.Errorf("nats: a job that was queued is gone: %s", m.Header.Get("Status"))
	}
	sequence, _ = strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if run == e.run {
		return run, sequence, nil
	}
	e.mu.Lock()
	a := e.adopted[run]
	sure := a != nil && a.sure
	e.mu.Unlock()
	if !sure {
		lost, err := time.ParseDuration(m.Header.Get(hLost))
		if err != nil || lost < minLost {
			lost = e.cfg.Lost
		}
		if err := s.queue(ctx, e.nc, w.Task, run, lost); err != nil {
			return "", 0, err
		}
		if err := e.adopt(run); err != nil {
			return "", 0, err
		}
	}
	wanted, _ := json.Marshal(notice{Kind: "wanted", Worker: e.run, Key: w.Key})
	return run, sequence, e.nc.Publish(s.subject("told", run, asRun), wanted) // so that it does not take the job back
}

// adopt has this run hear what workers tell another.
func (e *Evaluator) adopt(run string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, listened := e.adopted[run]; listened {
		a.sure = true
		return nil
	}
	told, err := e.nc.Subscribe(e.cfg.Server.subject("told", run, "*"), e.told)
	if err == nil {
		e.adopted[run] = &adoption{told, true}
	}
	return err
}

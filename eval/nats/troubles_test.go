package nats_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
)

// held is an evaluator whose evaluations end when they are let go, with a score of 1, or with their contexts.
type held struct {
	begun, ended atomic.Int64
	release      chan bool
}

func newHeld() *held { return &held{release: make(chan bool)} }

func (h *held) Evaluate(ctx context.Context, _ string) (eval.Result, error) {
	h.begun.Add(1)
	defer h.ended.Add(1)
	select {
	case <-h.release:
		return eval.Result{Score: 1, Valid: true}, nil
	case <-ctx.Done():
		return eval.Result{}, ctx.Err()
	}
}

// A full object store costs a result its artifacts, and not its score. The worker goes on.
func TestTheObjectStoreIsFull(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	var log lines
	e := run(t, nats.WithRoom(nats.Config{Server: server, Lost: time.Second}, 0, 2<<20))
	w, _ := work(t, nats.WorkerConfig{Server: server,
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			return large(ctx, strings.Trim(program, "0123456789"))
		}), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range 4 {
		r, err := e.Evaluate(t.Context(), fmt.Sprint("large", i))
		if err != nil || !r.Valid || r.Score != 1 || len(r.Artifacts) != 4 {
			t.Fatalf("%d: %+v, %v", i, r, err)
		}
		if cut := len(r.Artifacts["0"]) < 60<<10; cut != (i > 0) {
			t.Errorf("%d: its artifacts have %d bytes each", i, len(r.Artifacts["0"]))
		}
	}
	until(t, "the worker has done four", func() bool { return w.Stats().Done == 4 })
	if log.count("results are cut") != 1 {
		t.Errorf("the worker says:\n%s", log.text.String())
	}
}

// What a worker stores that was taken for dead changes nothing, also of a large result.
func TestALateLargeResultChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: large})
	e := run(t, nats.Config{Server: server})
	want, err := e.Evaluate(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	late := want.Clone()
	late.Score = 99
	nats.StoreLate(t, w, "large", late)
	got, err := run(t, nats.Config{Server: server}).Evaluate(t.Context(), "large")
	if err != nil || got.Score != want.Score || len(nats.Objects(t, e)) != 1 || w.Stats().Done != 1 {
		t.Errorf("score %v, %v, objects %v after %d evaluations", got.Score, err, nats.Objects(t, e), w.Stats().Done)
	}
}

// A worker that does not hear that its large result was stored leaves it as it is.
func TestALargeResultIsStoredTwice(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	e := run(t, nats.Config{Server: server})
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: large})
	until(t, "the worker is there", func() bool { return e.Stats().Workers == 1 })
	r, _ := large(t.Context(), "large")
	nats.StoreTwice(t, w, "large", r)
	got, err := e.Evaluate(t.Context(), "large")
	if err != nil || len(got.Artifacts) != 4 || w.Stats().Done != 0 {
		t.Errorf("%d artifacts, %v, after %d evaluations", len(got.Artifacts), err, w.Stats().Done)
	}
}

// A large result whose object is gone is evaluated again.
func TestAnObjectIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: large})
	e := run(t, nats.Config{Server: server})
	for range 2 {
		if r, err := e.Evaluate(t.Context(), "large"); err != nil || len(r.Artifacts) != 4 {
			t.Fatalf("%d artifacts, %v", len(r.Artifacts), err)
		}
		for _, name := range nats.Objects(t, e) {
			nats.DropObject(t, e, name)
		}
	}
	if got := w.Stats().Done; got != 2 {
		t.Errorf("%d evaluations, want 2", got)
	}
}

// A result that is there when the worker ends is stored.
func TestAWorkerThatEndsStoresItsResult(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	e := run(t, nats.Config{Server: server, Deaths: 1})
	begun, goOn := make(chan bool), make(chan bool)
	w, end := work(t, nats.WorkerConfig{Server: server, Grace: -1,
		Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
			close(begun)
			<-goOn
			return eval.Result{Score: 1, Valid: true}, nil
		})})
	var all sync.WaitGroup
	all.Go(func() {
		if r, err := e.Evaluate(t.Context(), "program"); err != nil || r.Score != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	<-begun
	all.Go(func() { end() })
	until(t, "the worker is ending", func() bool { return nats.Stopping(w) })
	time.Sleep(100 * time.Millisecond) // for the grace period, which is none
	close(goOn)
	all.Wait()
}

// Two runs that ask for the same program before it has a result have a job each: the one goes on when the other run
// gives its own up or ends.
func TestARunThatGivesUpLeavesTheOthersJob(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	for _, how := range []string{"gives up", "ends"} {
		t.Run(how, func(t *testing.T) {
			a, b, h := run(t, nats.Config{Server: server}), run(t, nats.Config{Server: server}), newHeld()
			ctx, cancel := contextWithCancel(t)
			left := make(chan bool)
			go func() {
				defer close(left)
				a.Evaluate(ctx, how)
			}()
			var all sync.WaitGroup
			all.Go(func() {
				if r, err := b.Evaluate(t.Context(), how); err != nil || r.Score != 1 {
					t.Errorf("%+v, %v", r, err)
				}
			})
			until(t, "both have queued it", func() bool { return nats.Queued(a) == 1 && nats.Queued(b) == 1 })
			w, end := work(t, nats.WorkerConfig{Server: server, Evaluator: h, Slots: 2})
			until(t, "both are under way", func() bool { return h.begun.Load() == 2 })
			cancel()
			<-left
			if how == "ends" {
				a.Close()
			}
			until(t, "one is given up", func() bool { return w.Stats().Canceled == 1 })
			close(h.release)
			all.Wait()
			end()
		})
	}
}

// A job that is given up while its worker looks whether there is a result is not evaluated.
func TestAJobIsAbandonedBeforeItBegins(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	h := newHeld()
	e := run(t, nats.Config{Server: nats.Server{URL: s.URL()}})
	w, _ := work(t, nats.WorkerConfig{Server: nats.Server{URL: newSlow(t, s.URL(), 100*time.Millisecond).url()},
		Evaluator: h})
	until(t, "the worker is there", func() bool { return e.Stats().Workers == 1 })
	for i := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { e.Evaluate(ctx, fmt.Sprint("program ", i)) })
		until(t, "the worker has it", func() bool { n, _ := nats.Unacknowledged(t, e); return n == 1 })
		cancel()
		all.Wait()
		until(t, "the worker has given it up", func() bool { return w.Stats().Canceled == i+1 })
	}
	if h.begun.Load() != h.ended.Load() {
		t.Errorf("%d evaluations began and %d ended", h.begun.Load(), h.ended.Load())
	}
}

// Evaluations fail when the evaluator is closed, also those that wait for a place.
func TestCloseEndsEvaluations(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	e := run(t, nats.Config{Server: nats.Server{URL: s.URL()}, InFlight: 1, Unserved: time.Hour})
	ended := make(chan error, 2)
	for i := range 2 {
		go func() {
			_, err := e.Evaluate(t.Context(), fmt.Sprint("program ", i))
			ended <- err
		}()
	}
	until(t, "one is queued", func() bool { return nats.Queued(e) == 1 })
	e.Close()
	for range 2 {
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "closed") {
			t.Error(err)
		}
	}
}

// A stream that is full of a dead run's jobs is told of, and cleared once that run's queue is gone.
func TestTheJobStreamIsFull(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	cfg := nats.WithRoom(nats.Config{Server: nats.Server{URL: s.URL()}}, 50<<10, 0)
	dead := run(t, cfg)
	var programs []string
	for i := range 30 {
		programs = append(programs, fmt.Sprint(i, strings.Repeat("x", 1000)))
	}
	nats.Queue(t, dead, programs...)
	var log lines
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	nats.DropQueue(t, dead)
	nats.Kill(dead)
	work(t, nats.WorkerConfig{Server: cfg.Server, Evaluator: trivialScore}) // not before, or it takes the dead run's jobs
	e := run(t, cfg)
	if r, err := e.Evaluate(t.Context(), strings.Repeat("y", 30_000)); err != nil || r.Score != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if log.count("the stream is full") == 0 || log.count("jobs of a dead run are removed") == 0 {
		t.Errorf("the run says:\n%s", log.text.String())
	}
}

var trivialScore = eval.Func(func(context.Context, string) (eval.Result, error) {
	return eval.Result{Score: 1, Valid: true}, nil
})

// A slot takes no job while it works on one, also after answers of the server were late.
func TestLateAnswersAreNotTakenForOthers(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	h, slow := newHeld(), newSlow(t, s.URL(), 0)
	e := run(t, nats.Config{Server: nats.Server{URL: s.URL()}})
	work(t, nats.WorkerConfig{Server: nats.Server{URL: slow.url()}, Evaluator: h, Grace: -1})
	until(t, "the worker is there", func() bool { return e.Stats().Workers == 1 })
	slow.hold(5500 * time.Millisecond) // longer than a pull waits for its answer
	time.Sleep(200 * time.Millisecond) // until the server knows that the slot has another inbox
	ctx, cancel := contextWithCancel(t)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() { e.Evaluate(ctx, fmt.Sprint("program ", i)) })
	}
	until(t, "one is under way", func() bool { return h.begun.Load() == 1 })
	time.Sleep(time.Second) // in which a pull of before could be answered
	if n, _ := nats.Unacknowledged(t, e); n != 1 {
		t.Errorf("the worker's one slot has %d jobs", n)
	}
	cancel()
	all.Wait()
}

// A run calls each second, however long the server takes to answer.
func TestARunCallsWhileItReviews(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	slow := newSlow(t, s.URL(), 0)
	e := run(t, nats.Config{Server: nats.Server{URL: slow.url()}, Unserved: time.Hour})
	calls := nats.Calls(t, s.URL(), e)
	ctx, cancel := contextWithCancel(t)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { e.Evaluate(ctx, fmt.Sprint("program ", i)) })
	}
	until(t, "all are queued", func() bool { return nats.Queued(e) == 100 })
	slow.late.Store(int64(time.Second))
	nats.AskAll(e) // which takes more than ten seconds now
	until(t, "three calls come in a fraction of that", func() bool {
		first := <-calls
		<-calls
		if last := <-calls; last.Sub(first) < 6*time.Second {
			return true
		}
		nats.AskAll(e) // it was a busy machine, perhaps
		return false
	})
	nats.Kill(e) // quicker than taking each back
	cancel()
	all.Wait()
}

// Slots with nothing to do ask for jobs a few times a second, however many they are and of however many runs.
func TestIdleSlotsAskSeldom(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	w, _ := work(t, nats.WorkerConfig{Server: server, Evaluator: length, Slots: 8})
	for _, runs := range []int{1, 9} {
		var last *nats.Evaluator
		for range runs {
			last = run(t, nats.Config{Server: server})
		}
		until(t, "the worker has heard of the last", func() bool { return last.Stats().Workers == 1 })
		until(t, "they ask seldom", func() bool { // at once, but for those that do not wait yet
			before, began := nats.Sent(w), time.Now()
			time.Sleep(time.Second)
			rate := float64(nats.Sent(w)-before) / time.Since(began).Seconds()
			t.Logf("%.0f messages a second of 8 idle slots, with %d more runs", rate, runs)
			return rate < 60
		})
	}
}

// A worker with as many free slots as runs begins a job at once, whichever run's it is: a slot waits at each run's
// queue, but for a moment when it asks again. TestSlotsWaitApart has that no two wait at one while another is free.
func TestFreeSlotsBeginAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	var runs []*nats.Evaluator
	for range 4 {
		runs = append(runs, run(t, nats.Config{Server: server}))
	}
	work(t, nats.WorkerConfig{Server: server, Evaluator: length, Slots: 5})
	attended := func() bool {
		return !slices.ContainsFunc(runs, func(e *nats.Evaluator) bool { return nats.Attending(t, e) == 0 })
	}
	for i := range 3 * len(runs) {
		until(t, "slots wait at all queues", attended)
		if _, err := runs[i%len(runs)].Evaluate(t.Context(), fmt.Sprint("program ", i)); err != nil {
			t.Error(err)
		}
	}
}

// A job whose evaluator failed is another worker's soon, and not only when its worker would count as lost.
func TestAFailedJobIsTakenSoon(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	var n atomic.Int64
	fails := nats.WorkerConfig{Server: server, Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
		if n.Add(1) == 1 {
			return eval.Result{}, errors.New("the disk is full")
		}
		return eval.Result{Score: 1, Valid: true}, nil
	})}
	work(t, fails)
	work(t, fails)
	e := run(t, nats.Config{Server: server, Lost: time.Hour})
	if r, err := e.Evaluate(t.Context(), "program"); err != nil || r.Score != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A run goes on with a server that came back without its streams.
func TestAServerForgets(t *testing.T) {
	t.Parallel()
	token := func(o *server.Options) { o.Authorization = "secret" }
	s := start(t, embedded.Config{Configure: token})
	server := nats.Server{URL: s.URL()}
	work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	e := run(t, nats.Config{Server: server})
	each(t, e, 1, "program")
	port := s.Addr().(*net.TCPAddr).Port
	s.Close()
	start(t, embedded.Config{Port: port, Configure: token})
	each(t, e, 3, "another")
}

// An evaluation whose result cannot be read ends with the evaluator.
func TestCloseEndsReading(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	e := run(t, nats.Config{Server: server})
	s.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := nats.Whole(t.Context(), e, "large")
		ended <- err
	}()
	time.Sleep(100 * time.Millisecond)
	e.Close()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

// A run that waits for a server that is gone says that, and not that workers are missing.
func TestTheServerStaysAway(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	server := nats.Server{URL: s.URL()}
	work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	e := run(t, nats.Config{Server: server, Gone: time.Second})
	each(t, e, 1, "program")
	s.Close()
	until(t, "the run has noticed", func() bool { return !nats.Connected(e) })
	nats.PassSilence(e)
	_, err := e.Evaluate(t.Context(), "another")
	if err == nil || !strings.Contains(err.Error(), "out of reach") || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A line is a connection through which a test says something in the server's place.
type line struct {
	server, client net.Conn
	mu             sync.Mutex
	whole          bool     // what was passed on ends with a whole message
	later          []string // to be said when it does
}

// Dial is for natsgo.SetCustomDialer.
func (l *line) Dial(network, address string) (net.Conn, error) {
	server, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	theirs, ours := net.Pipe()
	l.mu.Lock()
	l.server, l.client = server, ours
	l.mu.Unlock()
	go func() {
		io.Copy(server, ours)
		server.Close()
	}()
	go func() {
		defer ours.Close()
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil || l.pass(ours, buf[:n]) != nil {
				return
			}
		}
	}()
	return theirs, nil
}

func (l *line) pass(to net.Conn, text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := to.Write(text)
	l.whole = bytes.HasSuffix(text, []byte("\r\n"))
	l.speak(to)
	return err
}

// speak says what is to be said, if that can be now. l.mu is held.
func (l *line) speak(to net.Conn) {
	for ; l.whole && len(l.later) > 0; l.later = l.later[1:] {
		io.WriteString(to, l.later[0])
	}
}

func (l *line) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.later = append(l.later, text)
	l.speak(l.client)
}

// A server may close a connection with an error of which the client makes nothing but to give up for good. Neither side
// then waits for ever.
func TestConnectionsThatAreClosedForGood(t *testing.T) {
	t.Parallel()
	const odd = "-ERR 'The Account Is Being Moved'\r\n"
	s := start(t, embedded.Config{})
	var ofWorker, ofRun line
	through := func(l *line) nats.Server {
		return nats.Server{URL: s.URL(), Options: []natsgo.Option{natsgo.SetCustomDialer(l)}}
	}
	w, err := nats.NewWorker(nats.WorkerConfig{Server: through(&ofWorker), Task: cp, Evaluator: newHeld(), Grace: -1,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() { ended <- w.Run(t.Context()) }()
	e := run(t, nats.Config{Server: through(&ofRun)})
	go func() {
		_, err := e.Evaluate(t.Context(), "a program")
		ended <- err
	}()
	until(t, "the job is begun", func() bool { return e.Stats().Begun == 1 })
	for _, l := range []*line{&ofRun, &ofWorker} {
		l.say(odd)
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "Account Is Being Moved") {
				t.Errorf("it ends with %v", err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("it goes on without a connection")
		}
	}
}

package nats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
)

// A liar is a worker's NKey in the hands of somebody else, who has what workers are allowed and nothing of this
// package.
type liar struct {
	*testing.T
	nc  *natsgo.Conn
	key string // public
}

func newLiar(t *testing.T, as nats.Server) liar {
	t.Helper()
	nc, _ := client(t, as)
	return liar{t, nc, nc.Opts.Nkey}
}

// say publishes text to a subject.
func (l liar) say(subject, text string) {
	l.Helper()
	if err := l.nc.Publish(subject, []byte(text)); err != nil {
		l.Fatal(err)
	}
}

// store stores a text as the result of a key, with headers.
func (l liar) store(key, text string, headers natsgo.Header) (subject string) {
	l.Helper()
	m := natsgo.NewMsg("evoalloc.results.cp." + cp.Digest + "." + key)
	m.Header, m.Data = headers, []byte(text)
	if _, err := l.nc.RequestMsg(m, 10*time.Second); err != nil {
		l.Fatal(err)
	}
	return m.Subject
}

// reflect has the server send a text to a subject that workers may not publish to, as the answer to a question. The
// subjects of runs' calls and cancellations can be listened to, which shows that it gets there.
func (l liar) reflect(subject, text string, headers natsgo.Header) {
	l.Helper()
	stored := l.store("feed", text, headers)
	var heard *natsgo.Subscription
	var err error
	if strings.HasPrefix(subject, "evoalloc.c") {
		if heard, err = l.nc.SubscribeSync(subject); err != nil {
			l.Fatal(err)
		}
		defer heard.Unsubscribe()
	}
	if err := l.nc.PublishRequest("$JS.API.DIRECT.GET.EVOALLOC_RESULTS."+stored, subject, nil); err != nil {
		l.Fatal(err)
	}
	for heard != nil {
		m, err := heard.NextMsg(time.Minute)
		if err != nil {
			l.Fatalf("what the server sends to %s is not heard: %v", subject, err)
		}
		if string(m.Data) == text {
			return
		}
	}
}

// settled lets what the liar sent come to where it can do harm.
func (l liar) settled() {
	l.Helper()
	if err := l.nc.Flush(); err != nil {
		l.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
}

// underLie has an honest worker of one key evaluate "program" while a liar does something. It checks the score, and
// that the worker evaluated it once.
func underLie(t *testing.T, lie func(l liar, e *nats.Evaluator, w *nats.Worker, honest string)) {
	t.Helper()
	t.Parallel()
	asRun, asWorker, asLiar, honest := rolesAndLiar(t)
	e := run(t, nats.Config{Server: asRun})
	h := newHeld()
	w, _ := work(t, nats.WorkerConfig{Server: asWorker, Evaluator: h})
	done := make(chan bool)
	go func() {
		defer close(done)
		if r, err := e.Evaluate(t.Context(), "program"); err != nil || r.Score != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}()
	until(t, "it is under way", func() bool { return h.begun.Load() == 1 && e.Stats().Begun == 1 })
	l := newLiar(t, asLiar)
	lie(l, e, w, honest)
	l.settled()
	close(h.release)
	<-done
	if n := h.begun.Load(); n != 1 {
		t.Errorf("%d evaluations", n)
	}
	if s := w.Stats(); s.Canceled+s.Unlike != 0 {
		t.Errorf("the worker: %+v", s)
	}
}

// failed is a notice that a worker's evaluator failed with "program".
func failed(worker int) string {
	return fmt.Sprintf(`{"kind":"failed","worker":"w%d","key":%q,"error":"no interpreter"}`, worker, nats.KeyOf("program"))
}

func hereAs(worker string) string {
	return fmt.Sprintf(`{"kind":"here","worker":%q,"digest":%q,"slots":1}`, worker, cp.Digest)
}

// Workers that do not exist end no run, however many fail.
func TestALiarInventsWorkersThatFail(t *testing.T) {
	underLie(t, func(l liar, e *nats.Evaluator, _ *nats.Worker, _ string) {
		for i := range 20 {
			l.say(nats.Told(e, l.key), hereAs(fmt.Sprint("w", i)))
			l.say(nats.Told(e, l.key), failed(i))
		}
	})
}

// What the server sends for a worker is nobody's word: it neither fails in another's name nor gives a job up, nor has a
// run served.
func TestALiarSpeaksThroughTheServer(t *testing.T) {
	underLie(t, func(l liar, e *nats.Evaluator, _ *nats.Worker, honest string) {
		for i := range 3 {
			l.say(nats.Told(e, l.key), failed(i))
			l.reflect(nats.Told(e, honest), failed(i), nil)
		}
		l.reflect("evoalloc.cancel.cp", fmt.Sprintf(`{"digest":%q,"key":%q,"run":%q,"sequence":1}`, cp.Digest,
			nats.KeyOf("program"), nats.RunOf(e)), nil)
		l.reflect("evoalloc.call.cp", `{"run":"other","task":"cp","digest":"fedcba9876543210"}`, nil)
		l.settled()
	})
}

// A program that a worker has the server queue is refused by the others.
func TestALiarQueuesAProgram(t *testing.T) {
	t.Parallel()
	asRun, asWorker, asLiar, _ := rolesAndLiar(t)
	e := run(t, nats.Config{Server: asRun})
	seen := make(chan string, 10)
	w, _ := work(t, nats.WorkerConfig{Server: asWorker,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			seen <- program
			return eval.Result{Valid: true}, nil
		})})
	headers := natsgo.Header{
		"Evo-Task": {`"cp"`}, "Evo-Apart": {`""`}, "Evo-Sample": {"0"}, "Evo-Run": {nats.RunOf(e)}, "Evo-Deaths": {"5"},
		"Evo-Lost": {"15s"}, "Evo-Timeout": {"1h"},
	}
	l := newLiar(t, asLiar)
	l.reflect("evoalloc.jobs.cp."+cp.Digest+"."+nats.KeyOf("evil")+"."+nats.RunOf(e), "evil", headers)
	until(t, "it is refused or evaluated", func() bool { return w.Stats().Refused == 1 || len(seen) > 0 })
	if len(seen) > 0 {
		t.Errorf("the worker evaluates %q", <-seen)
	}
}

// However many workers a liar invents, what a run notes of them is bounded.
func TestALiarFillsTheRunsMemory(t *testing.T) {
	const names = 12_000
	underLie(t, func(l liar, e *nats.Evaluator, _ *nats.Worker, _ string) {
		name := strings.Repeat("x", 90)
		for i := range names {
			l.say(nats.Told(e, l.key), hereAs(fmt.Sprint(name, i)))
		}
		l.say(nats.Told(e, l.key), fmt.Sprintf(`{"kind":"here","worker":"last","digest":%q}`, strings.Repeat("f", 16)))
		until(l.T, "the run has heard all", func() bool { return nats.Others(e) == 1 })
		if n := e.Stats().Workers; n > 10_001 {
			l.Errorf("%d workers are noted", n)
		}
	})
}

// What a liar stores in place of a result, and is none, does not end the run: it is removed, and the worker's is taken.
func TestALiarStoresWhatIsNoResult(t *testing.T) {
	t.Parallel()
	asRun, asWorker, asLiar, _ := rolesAndLiar(t)
	e := run(t, nats.Config{Server: asRun})
	other, err := json.Marshal(map[string]any{"task": "cp", "digest": cp.Digest, "key": nats.KeyOf("other"),
		"result": map[string]any{"score": 1e9, "valid": true}})
	if err != nil {
		t.Fatal(err)
	}
	l := newLiar(t, asLiar)
	l.store(nats.KeyOf("program"), string(other), nil)
	work(t, nats.WorkerConfig{Server: asWorker, Evaluator: length})
	if r, err := e.Evaluate(t.Context(), "program"); err != nil || r.Score != float64(len("program")) {
		t.Errorf("%+v, %v", r, err)
	}
	if n := e.Stats().Refused; n < 1 {
		t.Errorf("%d results are refused", n)
	}
}

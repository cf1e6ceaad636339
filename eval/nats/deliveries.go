package nats

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// A worker's answers to the delivery of a job, in JetStream's words.
const (
	ack        = "+ACK"
	nak        = "-NAK"                       // deliver it again
	nakLater   = `-NAK {"delay": 1000000000}` // after a second
	inProgress = "+WPI"
	terminate  = "+TERM" // deliver it to nobody
)

// An activeJob is a job that a worker holds, from its delivery to the answer.
type activeJob struct {
	job
	delivery *nats.Msg
	tries    int    // deliveries, this one included
	sequence uint64 // of the job in the stream
	stop     context.CancelFunc
	canceled bool // by its run
	counted  bool // whether the job's history counts this delivery as a death; giving the job back reverts that
}

// begin records that the worker holds a job, and returns a context that ends with ctx or when the run cancels the job.
func (w *Worker) begin(ctx context.Context, m *nats.Msg, j job) (context.Context, *activeJob) {
	ours, stop := context.WithCancel(ctx)
	a := &activeJob{job: j, delivery: m, tries: 1, stop: stop}
	if meta, err := m.Metadata(); err == nil {
		a.tries, a.sequence = int(meta.NumDelivered), meta.Sequence.Stream
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancellations.has(j, a.sequence, time.Now()) {
		a.canceled = true
		stop()
	}
	w.active[a] = true
	return ours, a
}

// end records that the worker no longer holds a job.
func (w *Worker) end(a *activeJob) {
	a.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.active, a)
}

func (w *Worker) isCanceled(a *activeJob) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.canceled
}

// answer answers a delivery and waits some seconds at most for the server to confirm. A job without an answer is
// delivered again, and ends at once if it has a result.
func (w *Worker) answer(m *nats.Msg, what string) {
	for range 3 {
		if _, err := w.nc.Request(m.Reply, []byte(what), replyTimeout); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// beat tells the server at once that the worker still holds its jobs.
func (w *Worker) beat() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for a := range w.active {
		w.nc.Publish(a.delivery.Reply, []byte(inProgress))
	}
}

// keepAlive keeps telling the server that the worker holds a job, until end is called or for as long as an evaluation
// may take.
func (w *Worker) keepAlive(a *activeJob) (end func()) {
	every, most := a.Lost/5, a.Timeout+a.Lost
	begun, stop := time.Now(), make(chan struct{})
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		if !isClosed(stop) && time.Since(begun) < most {
			w.nc.Publish(a.delivery.Reply, []byte(inProgress))
			timer.Reset(every)
		}
	})
	timer.Reset(every)
	return func() { close(stop); timer.Stop() }
}

package nats

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// The server counts how often it delivered a job. Deliveries that a worker gave back, because its evaluator failed or
// because it was told to end, did not end that worker. How many they are is kept beside the results, where workers may
// write. A job that is queued again has another sequence in the stream, and they are counted anew.

func (w *Worker) backSubject(j job) string {
	return w.cfg.Server.subject("results", j.token(), j.Digest, j.Key, "back")
}

// backs returns how many of the deliveries of the job with this sequence were given back.
func backs(m *nats.Msg, sequence uint64) (n int) {
	if m == nil {
		return 0
	}
	var of uint64
	if _, err := fmt.Sscan(string(m.Data), &of, &n); err != nil || of != sequence {
		return 0
	}
	return max(n, 0)
}

// giveBack has the job delivered to another worker, at once or later. Where the count cannot be kept, the delivery counts
// as if it had ended this worker.
func (w *Worker) giveBack(m *nats.Msg, j job, what string) {
	if !w.nc.IsConnected() {
		return // nobody to tell
	}
	ctx, cancel := context.WithTimeout(context.Background(), asking) // also when this worker is ending
	defer cancel()
	_, sequence := delivery(m.Reply)
	before, err := lastOf(ctx, w.nc, w.cfg.Server.results(), w.backSubject(j))
	if err == nil {
		count := nats.NewMsg(w.backSubject(j))
		count.Data = fmt.Append(nil, sequence, " ", backs(before, sequence)+1)
		_, err = store(ctx, w.nc, count)
	}
	if err != nil {
		w.cfg.Logger.Debug("nats: that a job is given back is not counted", "error", printable.Line(err.Error()))
	}
	w.answer(m, what)
}

// deaths returns how many workers the job ended before this delivery. It asks until the server answers.
func (w *Worker) deaths(ctx context.Context, m *nats.Msg, j job) (int, error) {
	tries, sequence := delivery(m.Reply)
	if tries <= j.Deaths {
		return tries - 1, nil // or less, which is not needed to know
	}
	back, err := w.last(ctx, w.backSubject(j))
	return tries - 1 - backs(back, sequence), err
}

// last returns the last of the stored results' messages of a subject, or nil. It asks until the server answers.
func (w *Worker) last(ctx context.Context, subject string) (*nats.Msg, error) {
	for ctx.Err() == nil {
		m, err := lastOf(ctx, w.nc, w.cfg.Server.results(), subject)
		if err == nil {
			return m, nil
		}
		sleep(ctx, 200*time.Millisecond)
	}
	return nil, ctx.Err()
}

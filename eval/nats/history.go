package nats

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// A history is what is known of a job's earlier deliveries. The server counts all of them, and the rest is kept beside the
// results, where workers may write. A job that is queued again has another sequence in the stream, and a new history.
type history struct {
	back   int // deliveries given back, because the evaluator failed or the worker was told to end
	deaths int // workers that began the job as a suspect and did not end it
}

// suspect reports whether an earlier delivery came to no end, because its worker died, hung or was cut off. The cause may
// be this program or one that was evaluated beside it. So a suspect is evaluated alone, and only its deaths count.
func (h history) suspect(tries int) bool { return tries-1 > h.back }

func (w *Worker) historySubject(j job) string {
	return w.cfg.Server.subject("results", j.token(), j.Digest, j.Key, "back", j.Run)
}

// historyOf returns what m says about the job with this sequence in the stream.
func historyOf(m *nats.Msg, sequence uint64) (h history) {
	if m == nil {
		return history{}
	}
	var of uint64
	if _, err := fmt.Sscan(string(m.Data), &of, &h.back, &h.deaths); err != nil || of != sequence {
		return history{}
	}
	return history{max(h.back, 0), max(h.deaths, 0)}
}

// history returns the history of a job under way. It asks until the server answers.
func (w *Worker) history(ctx context.Context, r *running) (history, error) {
	if r.tries == 1 {
		return history{}, nil
	}
	m, err := w.last(ctx, w.historySubject(r.job))
	return historyOf(m, r.sequence), err
}

// note changes the history of a job under way.
func (w *Worker) note(ctx context.Context, r *running, change func(*history)) error {
	before, err := lastOf(ctx, w.nc, w.cfg.Server.results(), w.historySubject(r.job))
	if err != nil {
		return err
	}
	h := historyOf(before, r.sequence)
	change(&h)
	after := nats.NewMsg(w.historySubject(r.job))
	after.Data = fmt.Append(nil, r.sequence, " ", h.back, " ", h.deaths)
	return store(ctx, w.js, after)
}

// giveBack has the job delivered to another worker, at once or later. If the history cannot be changed, the delivery
// counts as one that came to no end.
func (w *Worker) giveBack(r *running, what string) {
	if !w.nc.IsConnected() {
		return // nobody to tell
	}
	ctx, cancel := context.WithTimeout(context.Background(), asking) // also when this worker is ending
	defer cancel()
	err := w.note(ctx, r, func(h *history) {
		h.back++
		if r.counted {
			h.deaths--
		}
	})
	if err != nil {
		w.cfg.Logger.Debug("nats: that a job is given back is not counted", "error", printable.Line(err.Error()))
	}
	w.answer(r.m, what)
}

// last returns the last of the stored results' messages of a subject, or nil. It asks until the server answers.
func (w *Worker) last(ctx context.Context, subject string) (*nats.Msg, error) {
	for ctx.Err() == nil {
		m, err := lastOf(ctx, w.nc, w.cfg.Server.results(), subject)
		if err == nil {
			return m, nil
		}
		sleep(ctx, askAgain)
	}
	return nil, ctx.Err()
}

// askAgain is the pause after a request that the server did not answer.
const askAgain = 200 * time.Millisecond

package nats

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// A history says how a job's earlier deliveries ended. The server only counts deliveries, so a history is stored beside
// the results, where workers may write. A job that is queued again has another sequence number in the stream, and so a
// new history.
type history struct {
	back   int // deliveries given back, because the evaluator failed or the worker was told to end
	deaths int // workers that began the job as a suspect and did not finish it
}

// suspect reports whether the worker of an earlier delivery died, hung or was cut off. The cause may be this program or
// another that the worker was evaluating. So a suspect is evaluated alone, and only a suspect's deaths count.
func (h history) suspect(tries int) bool { return tries-1 > h.back }

func (w *Worker) historySubject(j job) string {
	return w.cfg.Server.subject("results", j.token(), j.Digest, j.Key, "back", j.Run)
}

// historyOf returns the history in m, or zero if m is of a job with another sequence number.
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

// history returns the history of a job. It repeats the request until the server answers.
func (w *Worker) history(ctx context.Context, a *activeJob) (history, error) {
	if a.tries == 1 {
		return history{}, nil
	}
	m, err := w.last(ctx, w.historySubject(a.job))
	return historyOf(m, a.sequence), err
}

// note changes the history of a job.
func (w *Worker) note(ctx context.Context, a *activeJob, change func(*history)) error {
	before, err := lastOf(ctx, w.nc, w.cfg.Server.results(), w.historySubject(a.job))
	if err != nil {
		return err
	}
	h := historyOf(before, a.sequence)
	change(&h)
	after := nats.NewMsg(w.historySubject(a.job))
	after.Data = fmt.Append(nil, a.sequence, " ", h.back, " ", h.deaths)
	return store(ctx, w.js, after)
}

// giveBack has the job delivered to another worker, at once or later. If the history cannot be changed, the job
// becomes a suspect.
func (w *Worker) giveBack(a *activeJob, what string) {
	if !w.nc.IsConnected() {
		return // the server is out of reach
	}
	// The worker's own context may have ended.
	ctx, cancel := context.WithTimeout(context.Background(), replyTimeout)
	defer cancel()
	err := w.note(ctx, a, func(h *history) {
		h.back++
		if a.counted {
			h.deaths--
		}
	})
	if err != nil {
		w.cfg.Logger.Debug("nats: a job that was given back becomes a suspect", "error", printable.Line(err.Error()))
	}
	w.answer(a.delivery, what)
}

// last returns the message of a subject in the stream of results, or nil. It repeats the request until the server
// answers.
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

// askAgain is the pause before an unanswered request is repeated.
const askAgain = 200 * time.Millisecond

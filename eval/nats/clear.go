package nats

import (
	"context"
	"maps"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// clear removes the jobs of dead runs from a full stream. A run is dead if the server has removed its queue: the run
// was killed, and no worker has asked for its jobs in an hour.
func (e *Evaluator) clear(ctx context.Context) {
	if !e.table.takeRefused() || !e.logged.due("clear") {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	dead, err := e.deadRuns(ctx)
	for _, run := range dead {
		err = e.stream.Purge(ctx, jetstream.WithPurgeSubject(e.cfg.Server.subject("jobs", "*", "*", "*", run)))
		if err != nil {
			break
		}
		e.cfg.Logger.Warn("nats: the jobs of a dead run are removed from the full stream", "run", printable.Line(run))
	}
	if err != nil {
		e.cfg.Logger.Debug("nats: clearing the stream failed for now", "error", printable.Line(err.Error()))
	}
}

// deadRuns returns the runs that have jobs but no queue.
func (e *Evaluator) deadRuns(ctx context.Context) ([]string, error) {
	info, err := e.stream.Info(ctx, jetstream.WithSubjectFilter(e.cfg.Server.subject("jobs", ">")))
	if err != nil {
		return nil, err
	}
	runs := map[string]bool{}
	for subject := range info.State.Subjects {
		runs[lastToken(subject)] = true
	}
	queues := e.stream.ConsumerNames(ctx)
	for run := range queues.Name() {
		delete(runs, run)
	}
	if err := queues.Err(); err != nil { // a run that was not listed may be alive
		return nil, err
	}
	return slices.Collect(maps.Keys(runs)), nil
}

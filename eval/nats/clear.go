package nats

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// clear removes jobs from a full stream that nobody waits for: those of runs whose queues are gone, because they were
// killed and no worker has asked for their jobs in an hour.
func (e *Evaluator) clear(ctx context.Context) {
	e.mu.Lock()
	full := e.full
	e.full = false
	e.mu.Unlock()
	if !full || !e.said.due("clear") {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	dead, err := e.deadRuns(ctx)
	for _, run := range dead {
		filter, _ := json.Marshal(map[string]string{"filter": e.cfg.Server.subject("jobs", "*", "*", "*", run)})
		if _, err = e.nc.RequestWithContext(ctx, "$JS.API.STREAM.PURGE."+e.cfg.Server.jobs(), filter); err != nil {
			break
		}
		e.cfg.Logger.Warn("nats: the jobs of a run that is gone are removed from the full stream", "run", printable.Line(run))
	}
	if err != nil {
		e.cfg.Logger.Debug("nats: clearing the stream failed for now", "error", printable.Line(err.Error()))
	}
}

// deadRuns returns the runs that have jobs and no queue.
func (e *Evaluator) deadRuns(ctx context.Context) ([]string, error) {
	js, err := api(e.nc)
	if err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, e.cfg.Server.jobs())
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(e.cfg.Server.subject("jobs", ">")))
	if err != nil {
		return nil, err
	}
	runs := map[string]bool{}
	for subject := range info.State.Subjects {
		runs[subject[strings.LastIndexByte(subject, '.')+1:]] = true
	}
	queues := stream.ConsumerNames(ctx)
	for run := range queues.Name() {
		delete(runs, run)
	}
	if err := queues.Err(); err != nil { // those that were not listed may live
		return nil, err
	}
	return slices.Collect(maps.Keys(runs)), nil
}

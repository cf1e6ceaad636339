package main

import (
	"context"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
)

// runWorker scores programs for runs on other machines: those whose --nats names the same server, and whose task agrees
// in everything that decides scores. It runs until interrupted. docs/operations.md says how to start a hundred of them.
func runWorker(ctx context.Context, args []string) error {
	o, err := cli.ParseWorker(args)
	if err != nil {
		return err
	}
	cli.OutlivePipes()
	t, end, err := open.Task(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer end()
	id, err := remote.Task(ctx, &o.Options, t)
	if err != nil {
		return err
	}
	scorer := o.Guarded(t, t)
	if canary, ok := scorer.(interface{ Check(context.Context) error }); ok { // before it takes the first job
		if err := canary.Check(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return cli.Usagef("--canary: before the first job, %w", err)
		}
	}
	server := remote.Server(&o.Options)
	serves := false
	w, err := nats.NewWorker(nats.WorkerConfig{
		Server: server, Task: id, Evaluator: scorer, Slots: o.Slots, Grace: o.Grace,
		Serving: func() {
			serves = true
			cli.Printf("serves the task %v with %d slots at %v\n", id, o.Slots, server)
		},
	})
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	saying, stop := context.WithCancel(ctx)
	said := make(chan bool)
	go func() {
		defer close(said)
		say(saying, w)
	}()
	err = w.Run(ctx)
	stop()
	<-said
	if err != nil && !serves {
		return &cli.UsageError{Err: err}
	}
	cli.Printf("%s\n", line(w.Stats(), 0, 0))
	return err
}

// say prints the worker's state every minute.
func say(ctx context.Context, w *nats.Worker) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for before := 0; ; {
		select {
		case <-tick.C:
			s := w.Stats()
			cli.Printf("%s\n", line(s, s.Done-before, time.Minute))
			before = s.Done
		case <-ctx.Done():
			return
		}
	}
}

// line returns the worker's counts in one line, with the rate of the lately scored jobs.
func line(s nats.WorkerStats, lately int, every time.Duration) string {
	rate := ""
	if every > 0 {
		rate = fmt.Sprintf(", %.2f a second", float64(lately)/every.Seconds())
	}
	return fmt.Sprintf("%d scored%s, %d of them invalid; %d known, %d canceled, %d failed; refused: %d jobs, %d runs of "+
		"another version",
		s.Done, rate, s.Invalid, s.Known, s.Canceled, s.Failed, s.Refused, s.Unlike)
}

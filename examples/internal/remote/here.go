package remote

import (
	"context"
	"errors"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/task"
)

// here is a server in this process, without a port, with a worker for each task. Its streams go with it: a run's
// journal has what was paid for.
type here struct {
	server *embedded.Server
	dir    string // of the streams
	// around bounds the evaluations of all workers together by the processors. nil before the first worker.
	around  func(eval.Evaluator) eval.Evaluator
	workers errgroup.Group
	ends    []context.CancelFunc
}

// start starts the server.
func start() (*here, error) {
	dir, err := os.MkdirTemp("", "evoalloc-nats-")
	if err != nil {
		return nil, err
	}
	s, err := embedded.Start(embedded.Config{Dir: dir, Port: -1})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &here{server: s, dir: dir}, nil
}

// work starts a worker of t.
func (h *here) work(server nats.Server, id nats.Task, t task.Task) error {
	n := runtime.NumCPU()
	if h.around == nil {
		h.around = eval.Limit(t, n).(interface {
			Around(eval.Evaluator) eval.Evaluator
		}).Around
	}
	w, err := nats.NewWorker(nats.WorkerConfig{Server: server, Task: id, Evaluator: h.around(t), Slots: n})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.ends = append(h.ends, cancel)
	h.workers.Go(func() error { return w.Run(ctx) })
	return nil
}

// close ends the workers, then the server.
func (h *here) close() error {
	for _, end := range h.ends {
		end()
	}
	return errors.Join(h.workers.Wait(), h.server.Close(), os.RemoveAll(h.dir))
}

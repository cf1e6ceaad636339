package nats_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
)

// A server, a worker and a run in one process. On many machines the worker's part is in another program.
func Example() {
	dir, err := os.MkdirTemp("", "nats")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := embedded.Start(embedded.Config{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	server := nats.Server{URL: s.URL()}
	digest, err := nats.Digest(nil, "length, version 1")
	if err != nil {
		log.Fatal(err)
	}
	length := nats.Task{Name: "length", Digest: digest}

	ctx, cancel := context.WithCancel(context.Background())
	w, err := nats.NewWorker(nats.WorkerConfig{
		Server: server, Task: length, Slots: 2,
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			return eval.Result{Score: float64(len(program)), Valid: true}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()

	e, err := nats.New(ctx, nats.Config{Server: server, Task: length, Unserved: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	r, err := e.Evaluate(ctx, "a program")
	fmt.Println(e, r.Score, err)
	fmt.Println(e.Close())
	cancel()
	fmt.Println(<-ended)
	// Output:
	// length 9 <nil>
	// <nil>
	// <nil>
}

package evolve_test

import (
	"context"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// stray is a search whose step returns while its children are still made.
type stray struct {
	evolve.Breeder
	asked chan struct{} // closed when the model is asked
	over  chan struct{} // closed when the run is over
	gone  chan struct{} // closed when Breed has returned
}

func (s *stray) Start(context.Context, *evolve.Turn) error { return nil }

func (s *stray) Step(ctx context.Context, turn *evolve.Turn) (evolve.Generation, error) {
	go func() {
		defer close(s.gone)
		s.Breed(ctx, turn, 1, func(int) evolve.Brief { return evolve.Brief{} }, nil)
	}()
	<-s.asked
	return evolve.Generation{Index: 1}, nil
}

func (s *stray) Best() eval.Candidate { return eval.Candidate{} }
func (s *stray) Done() bool           { return false }

// A child that is taken in when the run is over has nobody to be told to, and does not wait for ever.
func TestStrayBreedEnds(t *testing.T) {
	s := &stray{asked: make(chan struct{}), over: make(chan struct{}), gone: make(chan struct{})}
	s.Task = newNumbers(t, "0")
	s.LLM = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		close(s.asked)
		<-s.over
		return ok("```text\n5\n```", 1), nil
	})
	evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{s}, Budget: evolve.Budget{Rounds: 1}})
	close(s.over)
	select {
	case <-s.gone:
	case <-time.After(5 * time.Minute):
		t.Fatal("Breed has not returned minutes after the run")
	}
}

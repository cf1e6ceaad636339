package cli

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// failures prints the first failure of each kind of calls, as soon as it is there: retries may hide it for minutes.
// It is safe for concurrent use.
type failures struct {
	mu   sync.Mutex
	told map[string]bool // by kind
}

// tell prints the failure err, unless one of its kind was printed before or the call was abandoned.
func (f *failures) tell(reply llm.Reply, err error) {
	status := llm.StatusOf(err)
	if err == nil || status == llm.Canceled || len(reply.Attempts) == 0 {
		return
	}
	kind := string(status)
	if last := reply.Attempts[len(reply.Attempts)-1]; last.Kind != "" {
		kind = last.Kind
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[kind] {
		return
	}
	if f.told == nil {
		f.told = make(map[string]bool)
	}
	f.told[kind] = true
	text := fmt.Sprintf("first failure of the kind %s: %v", kind, err)
	if remedy := llm.Remedy(err); remedy != "" {
		text += "; if it goes on: " + remedy
	}
	Notice(text)
}

// Notice prints what a model's endpoint makes worth saying, in one line.
func Notice(text string) {
	fmt.Fprintln(clean{log.Writer()}, printable.Line(inFlags(text))) // which stands above bars, see logAbove
}

// An overheard LLM has its failures told.
type overheard struct {
	llm.LLM
	failures *failures
}

// Generate asks the LLM.
func (o overheard) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := o.LLM.Generate(ctx, req)
	o.failures.tell(reply, err)
	return reply, err
}

// Unwrap returns the LLM that is asked.
func (o overheard) Unwrap() llm.LLM { return o.LLM }

func (o overheard) String() string { return fmt.Sprint(o.LLM) }

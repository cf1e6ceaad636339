package command

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A bounded keeps output up to a bound, at which it calls full and refuses more.
type bounded struct {
	most int
	full func()

	mu      sync.Mutex
	buf     bytes.Buffer
	flooded bool
	taken   bool
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken {
		return len(p), nil // of a process that outlived the command
	}
	if b.buf.Len()+len(p) > b.most {
		b.flooded = true
		b.full()
		return 0, fmt.Errorf("command: more than %d bytes of output", b.most)
	}
	return b.buf.Write(p)
}

func (b *bounded) isFull() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flooded
}

// take returns the output, after which nothing is added to it.
func (b *bounded) take() (output []byte, flooded bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = true
	return b.buf.Bytes(), b.flooded
}

// A tail keeps both ends of an output.
type tail struct {
	mu sync.Mutex
	sandbox.Capture
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Take(p)
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.String()
}

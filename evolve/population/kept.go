package population

import "sync"

// kept remembers what a gate worked out of a program when it judged it, until it is told of it: by then most programs
// that were judged are taken in. It is safe for concurrent use.
type kept[T any] struct {
	mu sync.Mutex
	of map[string]T
}

// maxKept bounds what is kept of programs that are never taken in, because another gate refused them.
const maxKept = 4096

// put keeps what was worked out of a program.
func (k *kept[T]) put(program string, v T) T {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= maxKept {
		k.of = make(map[string]T)
	}
	k.of[program] = v
	return v
}

// take returns what was kept of a program, or else works it out.
func (k *kept[T]) take(program string, work func() T) T {
	k.mu.Lock()
	v, ok := k.of[program]
	delete(k.of, program)
	k.mu.Unlock()
	if !ok {
		return work()
	}
	return v
}

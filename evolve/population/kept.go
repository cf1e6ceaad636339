package population

import (
	"crypto/sha256"
	"sync"
)

// kept remembers what a gate worked out of a program when it judged it, until it is told of it: by then most programs
// that were judged are taken in. It is safe for concurrent use.
type kept[T any] struct {
	mu    sync.Mutex
	of    map[[32]byte]T // by the program's hash
	bytes int            // put since it was empty
}

// What is kept of programs that are never taken in, because another gate refused them, is bounded: by their number,
// and by their length, with which what is worked out of them grows.
const (
	maxKept      = 4096
	maxKeptBytes = 8 << 20
)

// put keeps what was worked out of a program.
func (k *kept[T]) put(program string, v T) T {
	key := sha256.Sum256([]byte(program))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= maxKept || k.bytes+len(program) > maxKeptBytes {
		k.of, k.bytes = make(map[[32]byte]T), 0
	}
	k.of[key] = v
	k.bytes += len(program)
	return v
}

// take returns what was kept of a program, or else works it out.
func (k *kept[T]) take(program string, work func() T) T {
	key := sha256.Sum256([]byte(program))
	k.mu.Lock()
	v, ok := k.of[key]
	delete(k.of, key)
	k.mu.Unlock()
	if !ok {
		return work()
	}
	return v
}

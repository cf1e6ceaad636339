package population

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// Unseen returns a gate that refuses a program that is equal to one that was scored before, valid or not, but for
// comments, layout and blank lines. The language is the task's. In one that it does not know, only white space at the
// ends of lines is layout. Where it is not sure that two programs do the same, they are not equal.
//
// It compares with what was scored when the child was briefed. So of two siblings that are equal none is refused; if
// their texts are equal, the run evaluates them once. A program that is refused has spent its call, so this saves
// evaluations, and no calls.
//
// It takes about 100 bytes for each program, and is safe for concurrent use.
func Unseen() Gate { return &unseen{} }

type unseen struct {
	kept kept[[16]byte]
	mu   sync.RWMutex
	seen map[[16]byte]arrival
	n    int
}

// An arrival is when a program was taken in, and as which.
type arrival struct{ at, id int }

var _ follower = (*unseen)(nil)

func keyOf(program, language string) (key [16]byte) {
	sum := sha256.Sum256([]byte(lex.Essence(program, language)))
	copy(key[:], sum[:])
	return key
}

// Follow remembers a program that was scored.
func (u *unseen) Follow(b Birth) {
	if !b.Scored() {
		return
	}
	key := u.kept.take(b.Program, func() [16]byte { return keyOf(b.Program, languageOf(b.Task)) })
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = make(map[[16]byte]arrival)
	}
	if _, known := u.seen[key]; !known {
		u.seen[key] = arrival{u.n, b.ID}
	}
	u.n++
}

// Admit refuses a program that is remembered.
func (u *unseen) Admit(_ context.Context, v *View, program string) (why string, err error) {
	key := u.kept.put(program, keyOf(program, languageOf(v.Task)))
	u.mu.RLock()
	defer u.mu.RUnlock()
	if a, known := u.seen[key]; known && a.at < v.Taken {
		return fmt.Sprintf("it is program %d but for comments and layout", a.id), nil
	}
	return "", nil
}

// String names the gate.
func (u *unseen) String() string { return "Unseen" }

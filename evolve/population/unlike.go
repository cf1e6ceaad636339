package population

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/task"
)

// Unlike refuses a program that is too like one that was scored before: ShinkaEvolve's novelty gate, without a model.
// Programs are as alike as their sets of token shingles are (Jaccard), which for programs of 200 tokens in which k
// single tokens differ is about (196 − 5k)/(196 + 5k).
//
// It compares with what was scored when the child was briefed, its parent included. So a change of one constant in a
// short program may be refused: choose Most for the size of the programs.
//
// A pointer is safe for concurrent use.
type Unlike struct {
	// Most is how like the most alike program may be; 0 means 0.95.
	Most float64
	// Shingle is how many tokens a shingle has; 0 means 5.
	Shingle int
	// Of is with how many programs, the newest, a program is compared; 0 means 10,000. Twice as many are kept, so that
	// the decision does not depend on how many were taken in since the child was briefed: let a step have no more
	// children than Of.
	Of int

	mu    sync.Mutex
	index *likeness
	ids   []int // of the programs in index, the oldest first
	n     int   // programs that were scored
}

var (
	_ Follower  = (*Unlike)(nil)
	_ Validator = (*Unlike)(nil)
)

// Validate fails if a field is out of its range.
func (u *Unlike) Validate() error {
	switch {
	case !(u.Most >= 0 && u.Most <= 1):
		return fmt.Errorf("population: Unlike.Most is %v: need a similarity in [0, 1], 0 for 0.95", u.Most)
	case u.Shingle < 0:
		return fmt.Errorf("population: Unlike.Shingle is %d: need 0 for 5 tokens, or more", u.Shingle)
	case u.Of < 0:
		return fmt.Errorf("population: Unlike.Of is %d: need 0 for 10,000 programs, or more", u.Of)
	}
	return nil
}

func (u *Unlike) most() float64 { return cmp.Or(u.Most, 0.95) }
func (u *Unlike) of() int       { return cmp.Or(u.Of, 10_000) }
func (u *Unlike) shingle() int  { return cmp.Or(u.Shingle, 5) }

// shingles returns the set of a program's shingles, in order.
func (u *Unlike) shingles(t task.Task, program string) []uint64 {
	return lex.Shingles(program, task.LanguageOf(task.Ext(t)), u.shingle())
}

// Follow remembers a program that was scored, and forgets what is older than twice Of.
func (u *Unlike) Follow(b Birth) {
	if !b.Scored() {
		return
	}
	set := u.shingles(b.Task, b.Program)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.index == nil {
		u.index = newLikeness(u.shingle())
	}
	u.index.add(document{id: b.ID, at: u.n, set: set})
	u.ids = append(u.ids, b.ID)
	u.n++
	if len(u.ids) > 2*u.of() {
		u.index.remove(u.ids[0])
		u.ids = u.ids[1:]
	}
}

// Admit refuses a program that is more like another than Most.
func (u *Unlike) Admit(_ context.Context, v *View, program string) (why string, err error) {
	set := u.shingles(v.Task, program)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.index == nil {
		return "", nil
	}
	id, like, found := u.index.nearest(set, u.most(), max(0, v.Taken-u.of()), v.Taken)
	if !found || like <= u.most() && u.most() < 1 {
		return "", nil
	}
	return fmt.Sprintf("it is %.3f like program %d, and may be %v like one", like, id, u.most()), nil
}

// String names the gate and what it refuses.
func (u *Unlike) String() string {
	return fmt.Sprintf("Unlike(%v by shingles of %d)", u.most(), u.shingle())
}

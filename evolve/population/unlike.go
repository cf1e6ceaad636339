package population

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/llm"
)

// Unlike refuses a program that is too like one that was scored before: ShinkaEvolve's novelty gate, without a model.
// Programs are as alike as their sets of token shingles are (Jaccard), which for programs of 200 tokens in which k
// single tokens differ is about (196 − 5k)/(196 + 5k).
//
// It compares with what was scored when the child was briefed, its parent included. So a change of one constant in a
// short program may be refused: choose Most for the size of the programs. With Like, similarity is another's, for
// instance the cosine of embeddings, and each program is compared with all.
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
	// Like is a similarity in place of that of shingles; nil means that. It is called on several goroutines.
	Like func(a, b string) float64
	// Judge is asked about each program that is too like another. If it answers that the program does something new, the
	// program is admitted. nil means that such programs are refused unasked. Its calls are asides of the kind "judge". The
	// answer has to have a line "VERDICT: NEW" or "VERDICT: SAME", of which the last counts. A call that fails, and an
	// answer without a verdict, leave the program refused. ShinkaEvolve found that a judge adds little to the similarity
	// alone.
	Judge llm.LLM

	kept     kept[[]uint64]
	mu       sync.Mutex
	index    *likeness
	known    []known // programs numbered first and later, by arrival
	first, n int
}

// A known program is one that was scored.
type known struct {
	id      int
	program string
}

var _ follower = (*Unlike)(nil)

func (u *Unlike) validate() error {
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

// Follow remembers a program that was scored, and forgets what is older than twice Of.
func (u *Unlike) Follow(b Birth) {
	if !b.Scored() {
		return
	}
	var set []uint64
	if u.Like == nil {
		set = u.kept.take(b.Program, func() []uint64 { return lex.Shingles(b.Program, languageOf(b.Task), u.shingle()) })
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.index == nil {
		u.index = newLikeness(u.shingle())
	}
	if u.Like == nil {
		u.index.add(document{id: u.n, at: u.n, set: set})
	}
	u.known = append(u.known, known{b.ID, b.Program})
	u.n++
	if len(u.known) > 2*u.of() {
		u.index.remove(u.first)
		u.known = u.known[1:]
		u.first++
	}
}

// Admit refuses a program that is more like another than Most.
func (u *Unlike) Admit(ctx context.Context, v *View, program string) (why string, err error) {
	other, like, found := u.nearest(v, program)
	if !found || like <= u.most() && u.most() < 1 {
		return "", nil
	}
	why = fmt.Sprintf("it is %.3f like program %d, and may be %v like one", like, other.id, u.most())
	if u.Judge == nil {
		return why, nil
	}
	isNew, err := novel(ctx, v, u.Judge, other.program, program)
	if isNew {
		why = ""
	}
	return why, err
}

// nearest returns the most alike of the newest programs when v was made, if one is like enough to matter.
func (u *Unlike) nearest(v *View, program string) (other known, like float64, found bool) {
	if u.Like != nil {
		for _, m := range u.newest(v) {
			if s := u.Like(m.program, program); !found || s > like {
				other, like, found = m, s, true
			}
		}
		return other, like, found
	}
	set := u.kept.put(program, lex.Shingles(program, languageOf(v.Task), u.shingle()))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.index == nil {
		return known{}, 0, false
	}
	n, like, found := u.index.nearest(set, u.most(), max(0, v.Taken-u.of()), v.Taken)
	if !found {
		return known{}, 0, false
	}
	return u.known[n-u.first], like, true
}

// newest returns the programs that v is compared with.
func (u *Unlike) newest(v *View) []known {
	u.mu.Lock()
	defer u.mu.Unlock()
	from, to := max(0, v.Taken-u.of()-u.first), max(0, v.Taken-u.first)
	return u.known[from:to:to]
}

// String names the gate and what it refuses.
func (u *Unlike) String() string {
	of := fmt.Sprintf("shingles of %d", u.shingle())
	if u.Like != nil {
		of = "a similarity of its own"
	}
	return fmt.Sprintf("Unlike(%v by %s)", u.most(), of)
}

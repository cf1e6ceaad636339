package step

import (
	"context"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// A named is an evaluator that is told apart by its pointer and prints its name.
type named struct{ name string }

func (n *named) String() string { return n.name }
func (*named) Evaluate(context.Context, string) (eval.Result, error) {
	return eval.Result{Valid: true}, nil
}

// A behind is an evaluator behind a limit.
type behind struct{ *named }

func (b behind) Unlimited() eval.Evaluator { return b.named }

// An of is an evaluator that is told apart by what it is of.
type of struct {
	*named
	what any
}

func (o of) Identity() any { return o.what }

// Evaluators that print alike are told apart by the order in which they are first asked, so that a resumed run gives
// them the same names.
func TestNames(t *testing.T) {
	p := NewPrograms()
	one, two := &named{"judge"}, &named{"judge"}
	for _, tt := range []struct {
		reason string
		e      eval.Evaluator
		want   string
		known  bool
	}{
		{"the first", one, "judge", true},
		{"another that prints alike", two, "judge#1", true},
		{"the first again", one, "judge", true},
		{"the second behind a limit is itself", behind{two}, "judge#1", true},
		{"one of a thing", of{&named{"judge"}, 5}, "judge#2", true},
		{"another of the same", of{&named{"judge"}, 5}, "judge#2", true},
		{"one of another thing", of{&named{"judge"}, 6}, "judge#3", true},
		{"one of what cannot be compared", of{&named{"judge"}, []int{1}}, "judge", false},
		{"a func cannot be compared", eval.Func(one.Evaluate), "eval.Func", false},
	} {
		if name, known := p.Name(tt.e); name != tt.want || known != tt.known {
			t.Errorf("%s: %q, %v, want %q, %v", tt.reason, name, known, tt.want, tt.known)
		}
	}
}

// What is remembered is not computed again, but for artifacts that had to make 64<<20.
func TestDoForgetsArtifactsAlone(t *testing.T) {
	p := NewPrograms()
	large := string(make([]byte, 64<<20/2))
	computed := 0
	do := func(key string) Result {
		v, err := p.Do(t.Context(), record.KeyOf(key), func() (Result, error) {
			computed++
			return Result{Result: eval.Result{Valid: true, Score: 3, Artifacts: map[string]string{"a": large}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, key := range []string{"x", "y", "z"} {
		if v := do(key); v.Cut || v.Artifacts["a"] != large {
			t.Errorf("%s comes without its artifacts", key)
		}
	}
	if v := do("x"); !v.Cut || v.Score != 3 || v.Artifacts != nil || computed != 3 {
		t.Errorf("the oldest: cut %v, score %v, %d computed, want it cut and 3 computed", v.Cut, v.Score, computed)
	}
}

func TestUniqueKeysDiffer(t *testing.T) {
	p := NewPrograms()
	key := record.KeyOf("x")
	if one, two := p.Unique(key), p.Unique(key); one == two || one == key {
		t.Errorf("%v and %v for %v", one, two, key)
	}
}

package race

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit/sim"
)

// steppers returns all families that can be stepped.
func steppers() []Stepper {
	var all []Stepper
	for _, f := range append(Families(), Unlike()...) {
		all = append(all, f.(Stepper))
	}
	return append(all, Landscape{Kind: "labs", Neutral: true}, HillClimb{Objective: "ht", Few: true, Neutral: true})
}

// An arm is its search stepped by N children, and a step says how many of them were better than the best before.
func TestArmsAreSearchesStepped(t *testing.T) {
	for _, f := range steppers() {
		a := sim.Address{Seed: 5, Index: 2, N: 3, Rounds: 40}
		arm, s := f.Arm(a), f.Search(sim.Address{Seed: 5, Index: 2})
		for n, want := range arm {
			if s.Best() != want {
				t.Fatalf("%v: best %v after %d steps, the arm has %v", f, s.Best(), n, want)
			}
			before := s.Best()
			if better := s.Step(3); better < 0 || better > 3 || (better > 0) != (s.Best() > before) {
				t.Fatalf("%v, step %d: %d of 3 children are better, and the best score goes from %v to %v", f, n, better, before,
					s.Best())
			}
		}
	}
}

// Children made and taken in one by one are steps of one child.
func TestChildrenOneByOne(t *testing.T) {
	for _, f := range steppers() {
		one, other := f.Search(sim.Address{Seed: 6}), f.Search(sim.Address{Seed: 6})
		for n := range 300 {
			before := one.Best()
			better := one.Step(1)
			score := other.Take(other.Child())
			if one.Best() != other.Best() || (better == 1) != (score > before) {
				t.Fatalf("%v, child %d: a step comes from %v to %v (better: %d), the child has %v and its search comes to %v", f, n,
					before, one.Best(), better, score, other.Best())
			}
		}
	}
}

// Children that are all made before the first is taken in are those of a step: the best of them decides. Searches whose
// parents have few children draw new ones with each parent, so they are left out.
func TestChildrenAtOnce(t *testing.T) {
	for _, f := range []Stepper{HillClimb{Objective: "mmd"}, HillClimb{Objective: "cp", Rounded: true},
		Landscape{Kind: "tsp"}, Landscape{Kind: "rastrigin"}, formulas("draws")[0].(Stepper)} {
		one, other := f.Search(sim.Address{Seed: 7}), f.Search(sim.Address{Seed: 7})
		for step := range 60 {
			before, better := other.Best(), 0
			var children []Child
			for range 8 {
				children = append(children, other.Child())
			}
			for _, c := range children {
				if other.Take(c) > before {
					better++
				}
			}
			if n := one.Step(8); n != better || one.Best() != other.Best() {
				t.Fatalf("%v, step %d: %d better ones to %v, at once %d to %v", f, step, n, one.Best(), better, other.Best())
			}
		}
	}
}

// One child in twenty fails, and so does one of a few that has been seen. The standard deviation of the share is 0.0034.
func TestChildrenThatFail(t *testing.T) {
	for _, f := range []Stepper{Landscape{Kind: "nk"}, HillClimb{Objective: "mmd"}} {
		s, failures := f.Search(sim.Address{Seed: 8}), 0
		for range 4000 {
			before := s.Best()
			if s.Take(s.Child()) == math.Inf(-1) {
				failures++
				if s.Best() != before {
					t.Fatalf("%v: a child without a score changes the best from %v to %v", f, before, s.Best())
				}
			}
		}
		if got := float64(failures) / 4000; math.Abs(got-0.05) > 0.014 {
			t.Errorf("%v: a share of %.3f of the children fails, want 0.05 ± 0.014", f, got)
		}
	}
}

func TestStepOfNoChildren(t *testing.T) {
	for _, f := range []Stepper{formulas("draws")[0].(Stepper), HillClimb{Objective: "cp"}, Landscape{Kind: "nk"}} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.HasPrefix(v, "race: a step of 0 children") {
					t.Errorf("%v: %q", f, v)
				}
			}()
			f.Search(sim.Address{}).Step(0)
		}()
	}
}

// parentOf returns what the children of a hill-climb or a landscape's search are made of.
func parentOf(s Search) []float64 {
	if w, ok := s.(*walk); ok {
		return w.parent
	}
	return s.(*search).parent
}

// A search that drifts comes to other parents of the same score, and one that does not never does. As long as their
// parents are the same they make the same children.
func TestDrifting(t *testing.T) {
	for _, d := range []Drifter{Landscape{Kind: "trap"}, HillClimb{Objective: "ht", Rounded: true}} {
		for _, f := range []Stepper{d, d.Drifting()} {
			for _, step := range []func(Search){func(s Search) { s.Step(2) }, func(s Search) { s.Take(s.Child()) }} {
				s, moved := f.Search(sim.Address{Seed: 3}), 0
				for range 400 {
					best, parent := s.Best(), slices.Clone(parentOf(s))
					step(s)
					if s.Best() == best && !slices.Equal(parent, parentOf(s)) {
						moved++
					}
				}
				if drifts := f != Stepper(d); (moved > 0) != drifts {
					t.Errorf("%v: %d moves to a parent of the same score, drifting: %v", f, moved, drifts)
				}
			}
		}
		plain, drifting := d.Search(sim.Address{Seed: 4}), d.Drifting().Search(sim.Address{Seed: 4})
		n := 0
		for ; n < 400 && slices.Equal(parentOf(plain), parentOf(drifting)); n++ {
			if plain.Step(1) != drifting.Step(1) {
				t.Errorf("%v: child %d of the same parent differs", d, n)
			}
		}
		if n == 0 || n == 400 {
			t.Errorf("%v: %d children until the parents differ", d, n)
		}
		if name := d.Drifting().String(); name != d.String()+"-neutral" {
			t.Errorf("%v drifting is named %s", d, name)
		}
	}
}

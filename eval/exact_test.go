package eval

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestExact(t *testing.T) {
	for _, tt := range []struct {
		reason string
		r      Result
		want   float64
		valid  bool
	}{
		{"no tolerance was used", Result{Valid: true, Score: 2}, 2, true},
		{"less without it", Result{Valid: true, Score: 2, Metrics: map[string]float64{ExactScore: 1.5}}, 1.5, true},
		{"nothing is left", Result{Valid: true, Score: 2, Metrics: map[string]float64{ExactScore: 0}}, 0, true},
		{"invalid stays so", Result{Reason: "no", Metrics: map[string]float64{ExactScore: 1}}, 0, false},
	} {
		asked := 0
		e := Exact(Func(func(context.Context, string) (Result, error) { asked++; return tt.r, nil }))
		r, err := e.Evaluate(t.Context(), "x")
		if err != nil || r.Score != tt.want || r.Valid != tt.valid || asked != 1 {
			t.Errorf("%s: %v, %v, asked %d times, want %v", tt.reason, r, err, asked, tt.want)
		}
	}
}

func ExampleExact() {
	lenient := Func(func(context.Context, string) (Result, error) {
		return Result{Valid: true, Score: 2.6359, Metrics: map[string]float64{ExactScore: 2.6301}}, nil
	})
	r, err := Exact(lenient).Evaluate(context.Background(), "circles")
	fmt.Println(r.Score, err)
	// Output: 2.6301 <nil>
}

// nameless has no String, and printed as a struct it shows an address.
type nameless struct{ at *int }

func (nameless) Evaluate(context.Context, string) (Result, error) { return Result{Valid: true}, nil }

// Each sample of a noisy evaluator stays one of its own behind Exact, and the same one in every process.
func TestExactSamples(t *testing.T) {
	c := Exact(Limit(nameless{new(int)}, 1)).(Composite)
	names := map[string]bool{}
	for sample := range 3 {
		one, err := c.Parts("x", sample)
		two, err2 := c.Parts("x", sample)
		if err != nil || err2 != nil || len(one) != 1 || one[0] != two[0] {
			t.Fatalf("sample %d: %v and %v: %v, %v", sample, one, two, err, err2)
		}
		names[fmt.Sprint(one[0])] = true
	}
	if len(names) != 3 {
		t.Errorf("three samples are named %v", names)
	}
	for _, e := range []Evaluator{Exact(nameless{new(int)}), WithCanaries(nameless{new(int)}, Canary{Program: "x"})} {
		if s := fmt.Sprint(e); !strings.Contains(s, "eval.nameless") {
			t.Errorf("prints as %s", s)
		}
	}
}

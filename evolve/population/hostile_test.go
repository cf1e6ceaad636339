package population_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// faulty is a part of every kind that does something bad when its countdown ends.
type faulty struct {
	what string
	left int
	do   func()
}

func (f *faulty) at(what string) {
	if f.what != what {
		return
	}
	if f.left--; f.left == 0 {
		f.do()
	}
}

type (
	faultyArchive struct {
		*faulty
		population.Archive
	}
	faultyOperator struct{ *faulty }
	faultyGate     struct{ *faulty }
	faultyMemory   struct{ *faulty }
	faultyPolicy   struct {
		*faulty
		bandit.Policy
	}
)

func (a faultyArchive) Add(m population.Member) bool { a.at("Add"); return a.Archive.Add(m) }
func (a faultyArchive) Members() []population.Member { a.at("Members"); return a.Archive.Members() }

func (o faultyOperator) Name() string                          { return "faulty operator" }
func (o faultyOperator) Able(*population.View) bool            { o.at("Able"); return true }
func (o faultyOperator) Brief(v *population.View) evolve.Brief { o.at("Brief"); return v.Brief() }

func (g faultyGate) Follow(population.Birth) { g.at("Follow") }
func (g faultyGate) Admit(context.Context, *population.View, string) (string, error) {
	g.at("Admit")
	return "", nil
}

func (m faultyMemory) Section(*population.View) (s task.Section)       { m.at("Section"); return s }
func (m faultyMemory) Learn(context.Context, *population.Season) error { m.at("Learn"); return nil }

func (p faultyPolicy) Probs(probs []float64, r bandit.Round) { p.at("Probs"); p.Policy.Probs(probs, r) }
func (p faultyPolicy) Update(pull bandit.Pull, reward float64) {
	p.at("Update")
	p.Policy.Update(pull, reward)
}

// withFaulty is a search that has f for each of its parts. Its children are made one after the other.
func withFaulty(t *testing.T, f *faulty) *population.Population {
	return newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: climber, N: 4, Window: 1, Seed: 3,
		Archive:   faultyArchive{f, population.Top(3)},
		Select:    population.SelectorFunc(func([]population.Member, *rand.Rand) int { f.at("Select"); return 0 }),
		Operators: []population.Operator{population.Rewrite{}, faultyOperator{f}},
		Policy:    faultyPolicy{f, bandit.Random{}},
		Credit: func(b population.Birth) (float64, bool) {
			f.at("Credit")
			return population.Improved(b)
		},
		Gates: []population.Gate{faultyGate{f}}, Memory: []population.Memory{faultyMemory{f}},
	})
}

// Whatever part panics, the run ends with an error that names the part, and its result has what was paid for.
func TestPanics(t *testing.T) {
	for _, tt := range []struct {
		what, named string
		left, made  int // calls that the result must have
	}{
		{"Add", "Archive population_test.faultyArchive", 3, 2}, // one is the initial program's
		{"Members", "Archive population_test.faultyArchive", 3, 2},
		{"Select", "Selector population.SelectorFunc", 6, 5},
		{"Able", "Operator faulty operator", 6, 5},
		{"Brief", "Operator faulty operator", 1, 0},
		{"Probs", "Policy population_test.faultyPolicy", 6, 5},
		{"Update", "Policy population_test.faultyPolicy", 3, 3},
		{"Credit", "Credit", 3, 3},
		{"Follow", "Gate population_test.faultyGate", 3, 2},
		{"Admit", "Gate population_test.faultyGate", 3, 3},
		{"Section", "Memory population_test.faultyMemory", 3, 2},
		{"Learn", "Memory population_test.faultyMemory", 3, 3},
	} {
		f := &faulty{what: tt.what, left: tt.left, do: func() { panic("boom") }}
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{withFaulty(t, f)}, Budget: evolve.Budget{Calls: 40}})
		var p *evolve.PanicError
		if !errors.As(err, &p) || p.Value != "boom" || p.What != tt.named || !strings.Contains(string(p.Stack), "hostile_test.go") {
			t.Errorf("%s: error %v, want a panic that names %q", tt.what, err, tt.named)
			continue
		}
		made := 0
		for range res.Attempts {
			made++
		}
		if made < tt.made || made > 20 || f.left > 0 {
			t.Errorf("%s: %d calls in the result, want %d at least", tt.what, made, tt.made)
		}
	}
}

// In whichever place the archive is asked for its members, by a search that demotes or by one of a noisy task, the error
// names it.
func TestPanicsOfAnArchive(t *testing.T) {
	for left := 1; left < 40; left++ {
		f := &faulty{what: "Members", left: left, do: func() { panic("boom") }}
		cfg := population.Config{Task: numbers(t, "0"), LLM: climber, N: 4, Window: 1, Seed: 3, Archive: faultyArchive{f, population.Top(3)}}
		if left%2 == 0 {
			cfg.Noise = &evolve.Noise{Rescore: 0.5}
		}
		_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{newPopulation(t, cfg)},
			Budget: evolve.Budget{Calls: 40}, Audit: &evolve.Audit{By: numbers(t, "1"), Demote: cfg.Noise == nil}})
		var bad *evolve.PanicError
		if !errors.As(err, &bad) || bad.What != "Archive population_test.faultyArchive" {
			t.Errorf("asked %d times: error %v, want a panic that names the archive", left, err)
		}
	}
}

// A gate that ends its goroutine ends the search, and no one waits for it.
func TestGateThatEndsItsGoroutine(t *testing.T) {
	f := &faulty{what: "Admit", left: 3, do: runtime.Goexit}
	_, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{withFaulty(t, f)}, Budget: evolve.Budget{Calls: 40}})
	if err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
		t.Errorf("%v", err)
	}
}

// nobody is an archive that keeps nothing.
type nobody struct{}

func (nobody) Add(population.Member) bool   { return false }
func (nobody) Members() []population.Member { return nil }
func (nobody) String() string               { return "nobody()" }

// unable is an operator that can never make a child.
type unable struct{ population.Rewrite }

func (unable) Able(*population.View) bool { return false }

// nan is a policy whose chances are no numbers.
type nan struct{}

func (nan) Probs(p []float64, _ bandit.Round) { p[0] = math.NaN() }
func (nan) Update(bandit.Pull, float64)       {}
func (nan) String() string                    { return "nan()" }

// Parts that return what cannot be used end the search with an error that names them.
func TestUselessParts(t *testing.T) {
	two := []population.Operator{population.Rewrite{}, population.Explore{}}
	for _, tt := range []struct {
		reason string
		cfg    population.Config
		want   string
		calls  int
	}{
		{"an archive that keeps nothing", population.Config{Archive: nobody{}}, "Archive nobody() has no member", 0},
		{"a selector that returns no index", population.Config{Select: population.SelectorFunc(func([]population.Member, *rand.Rand) int { return -1 })},
			"Selector population.SelectorFunc returns -1 for a choice of 1 members", 0},
		{"no operator can make a child", population.Config{Operators: []population.Operator{unable{}}}, "no proposer can make a child", 0},
		{"chances that are no numbers", population.Config{Operators: two, Policy: nan{}}, "choosing a proposer: bandit: nan() at draw 0: probability NaN", 0},
		{"an island policy likewise", population.Config{Archive: &population.Islands{Of: []population.Archive{population.Top(1), population.Top(1)}}, Islands: nan{}},
			"choosing the island: bandit: nan()", 0},
		{"a credit that is no number", population.Config{Operators: two, Credit: func(population.Birth) (float64, bool) { return math.NaN(), true }},
			"the Credit of a proposer: bandit: reward NaN", 1},
		{"shares for other operators", population.Config{Operators: two, Policy: bandit.Shares{1}}, "Shares has 1 numbers for 2 arms", 0},
		{"a weight that is no number", population.Config{Select: population.ByWeight(func(population.Member) float64 { return math.NaN() })}, "weight of choice 0 is NaN", 0},
		{"a breadth of none", population.Config{Breadth: evolve.BreadthFunc(func([]evolve.Made) int { return 0 })}, "asks for 0 children", 0},
		{"a gate that fails", population.Config{Gates: []population.Gate{population.GateFunc(func(context.Context, *population.View, string) (string, error) {
			return "", errors.New("no disk")
		})}}, "Gate population.GateFunc: no disk", 1},
	} {
		tt.cfg.Task, tt.cfg.LLM, tt.cfg.Seed = numbers(t, "0"), climber, 3
		if tt.cfg.N == 0 {
			tt.cfg.N = 4
		}
		p := newPopulation(t, tt.cfg)
		res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Calls: 40}})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", tt.reason, err, tt.want)
		}
		if made := len(res.Arms[0].Generations); tt.calls > 0 && (made == 0 || len(res.Arms[0].Generations[0].Children) < tt.calls) {
			t.Errorf("%s: what was paid for is not in the result", tt.reason)
		}
		if _, again := p.Step(t.Context(), nil); again == nil || !p.Done() {
			t.Errorf("%s: it goes on after the error: %v", tt.reason, again)
		}
	}
}

// empty is an operator that says nothing.
type empty struct{}

func (empty) Name() string                        { return "empty" }
func (empty) Brief(*population.View) evolve.Brief { return evolve.Brief{} }

// What an operator leaves out is a rewrite of the parent that was selected, on the record too.
func TestOperatorThatSaysNothing(t *testing.T) {
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: climber, N: 6, Window: 1, Seed: 2, Operators: []population.Operator{empty{}}})
	g := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: climber, N: 6, Window: 1, Seed: 2})
	for range 5 {
		got, err := p.Step(t.Context(), nil)
		want, wantErr := g.Step(t.Context(), nil)
		if err != nil || wantErr != nil {
			t.Fatal(err, wantErr)
		}
		for i, c := range got.Children {
			if w := want.Children[i]; c.Program != w.Program || !slices.Equal(c.Parents, w.Parents) || c.Operator != "empty" {
				t.Errorf("child %d of %v is %q by %q, a rewrite would be %q of %v", c.ID, c.Parents, c.Program, c.Operator, w.Program, w.Parents)
			}
		}
	}
}

// A gate that refuses all leaves the best as it was, and each refused program is a child that spent its call.
func TestGateThatRefusesAll(t *testing.T) {
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: climber, N: 4, Gates: []population.Gate{
		population.GateFunc(func(context.Context, *population.View, string) (string, error) { return "because", nil })}})
	res := run(t, p, 40)
	children := 0
	for _, g := range res.Arms[0].Generations {
		for _, c := range g.Children {
			if children++; c.HasProgram() && c.Err != "refused by population.GateFunc: because" {
				t.Errorf("child %d: %q", c.ID, c.Err)
			}
		}
	}
	if res.Calls != 40 || children < 40 || res.Best.Program != "0" {
		t.Errorf("%d calls, %d children, best %q", res.Calls, children, res.Best.Program)
	}
}

// What is wrong with a Config is said before anything is paid for.
func TestNewFails(t *testing.T) {
	gate, archive := population.Gate(nil), population.Top(1)
	for _, tt := range []struct {
		cfg  population.Config
		want string
	}{
		{population.Config{N: -1}, "Config.N is -1"},
		{population.Config{N: evolve.MaxN + 1}, "Config.N is 100001"},
		{population.Config{Window: -1}, "Config.Window is -1"},
		{population.Config{Order: 7}, "Config.Order is"},
		{population.Config{Islands: bandit.Random{}}, "the archive Drift has no parts"},
		{population.Config{Archive: &population.Islands{}}, "Islands.Of is empty"},
		{population.Config{Archive: &population.Islands{Of: []population.Archive{archive, archive}}}, "Islands.Of[0] and [1] are one archive"},
		{population.Config{Archive: &population.Islands{Of: []population.Archive{nil}}}, "Islands.Of[0] is nil"},
		{population.Config{Select: population.Weighted(math.NaN())}, "Weighted(NaN)"},
		{population.Config{Operators: []population.Operator{nil}}, "Config.Operators[0] is nil"},
		{population.Config{Operators: []population.Operator{population.Rewrite{}, population.Rewrite{}}}, `named "rewrite"`},
		{population.Config{Operators: []population.Operator{population.Cross{Partners: -1}}}, "Cross.Partners is -1"},
		{population.Config{Operators: []population.Operator{population.Repair{Select: population.Weighted(-1)}}}, "Weighted(-1)"},
		{population.Config{Gates: []population.Gate{gate}}, "Config.Gates[0] is nil"},
		{population.Config{Gates: []population.Gate{&population.Unlike{Most: 2}}}, "Unlike.Most is 2"},
		{population.Config{Gates: []population.Gate{population.Screen{}}}, "Screen.On is nil"},
		{population.Config{Memory: []population.Memory{nil}}, "Config.Memory[0] is nil"},
		{population.Config{Memory: []population.Memory{&population.Scratchpad{Most: -1}}}, "Scratchpad.Most is -1"},
		{population.Config{Memory: []population.Memory{&population.Attempts{Most: -1}}}, "Attempts.Most is -1"},
	} {
		tt.cfg.Task, tt.cfg.LLM = numbers(t, "0"), climber
		if _, err := population.New(tt.cfg); err == nil || !strings.HasPrefix(err.Error(), "population: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	if _, err := population.New(population.Config{LLM: climber}); err == nil || !strings.Contains(err.Error(), "Task is nil") {
		t.Errorf("%v", err)
	}
	for name, f := range map[string]func(){"Top(0)": func() { population.Top(0) }} {
		if v := recovered(f); !strings.Contains(fmt.Sprint(v), "population: "+name) {
			t.Errorf("%s panics with %v", name, v)
		}
	}
}

func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// A search whose children are made without a model needs none. One whose child asks it after all ends with an error that
// says so.
func TestNoModel(t *testing.T) {
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), N: 4, Operators: []population.Operator{maker{}}})
	if gen, err := p.Step(t.Context(), nil); err != nil || len(gen.Children) != 4 || !gen.Children[3].Scored() {
		t.Errorf("%+v, %v", gen.Children, err)
	}
	asks := newPopulation(t, population.Config{Task: numbers(t, "0"), N: 4})
	if _, err := asks.Step(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "LLM is nil") {
		t.Errorf("a child that asks no model: %v", err)
	}
	notes := newPopulation(t, population.Config{Task: numbers(t, "0"), N: 4, Operators: []population.Operator{maker{}},
		Memory: []population.Memory{&population.Scratchpad{Every: 2}}})
	if _, err := notes.Step(t.Context(), nil); err != nil {
		t.Errorf("notes that nobody writes: %v", err)
	}
}

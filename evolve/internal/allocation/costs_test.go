package allocation_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
)

func money(a books.Amounts) float64 { return a.Money }

func TestCosts(t *testing.T) {
	l := allocation.NewLearner(3)
	if c := l.Costs(money); c != nil {
		t.Errorf("before any pull: %v", c)
	}
	l.Add(0, 1, books.Amounts{Calls: 1, Money: 1}, true)
	if c := l.Costs(money); c != nil {
		t.Errorf("after the pull of one arm all others are taken to cost as much: %v", c)
	}
	l.Add(1, 1, books.Amounts{Calls: 5, Money: 5}, true)
	// m = ln 5/2. Arm 0: exp(4·m/5) = 1.9; arm 1: exp((ln 5 + 4·m)/5) = 2.6.
	if c := l.Costs(money); c != nil {
		t.Errorf("2.6 is not twice 1.9: %v", c)
	}
	for range 3 {
		l.Add(1, 1, books.Amounts{Calls: 5, Money: 5}, true)
	}
	// Arm 1: exp((4·ln 5 + 4·m)/8) = 3.3; an arm without pulls: exp m = 2.24.
	if c := l.Costs(money); c != nil {
		t.Errorf("3.3 is not twice 1.9: %v", c)
	}
	for range 3 {
		l.Add(0, 1, books.Amounts{Calls: 1, Money: 1.2}, true)
	}
	// Arm 0: c = 1.15, m = 0.875, ĉ = 1.66; arm 1: 3.46, and c = 5; arm 2: exp m = 2.4, so it is like arm 0.
	want := []float64{1, 5 / 1.15, 1}
	c := l.Costs(money)
	for i := range want {
		if len(c) != 3 || math.Abs(c[i]-want[i]) > 1e-3 {
			t.Fatalf("costs %v, want %v", c, want)
		}
	}
	teachesNothing(t, l, c)
}

// teachesNothing adds pulls to a Learner that do not change its costs.
func teachesNothing(t *testing.T, l *allocation.Learner, c []float64) {
	t.Helper()
	if c := l.Costs(func(a books.Amounts) float64 { return a.EvalTime.Seconds() }); c != nil {
		t.Errorf("in a unit of which nothing was spent: %v", c)
	}
	l.Add(0, 1, books.Amounts{Calls: 1, Money: 1000}, false)
	l.Add(0, 1, books.Amounts{Money: 1000}, true)
	if again := l.Costs(money); again[1] != c[1] || math.Abs(l.Spent().Money-2024.6) > 1e-9 {
		t.Errorf("a pull that was cut short and one without an answer changed the costs to %v, or are not in the sum %v", again, l.Spent())
	}
}

func TestCostsAtTheEdges(t *testing.T) {
	// A free arm is the cheapest by far, and still has a cost.
	l := allocation.NewLearner(2)
	for range 4 {
		l.Add(0, 1, books.Amounts{Calls: 1}, true)
		l.Add(1, 1, books.Amounts{Calls: 1, Money: 2}, true)
	}
	if c := l.Costs(money); len(c) != 2 || c[0] != 1 || math.Abs(c[1]-20000) > 1e-6 {
		t.Errorf("a free arm: %v, want [1 20000]: 2 against 1e-4 of the mean of 1", c)
	}
	// After a session of a hundred calls, an arm without pulls is not taken to have such sessions.
	l = allocation.NewLearner(2)
	l.Add(0, 1, books.Amounts{Calls: 100, Money: 50}, true)
	if c := l.Costs(money); len(c) != 2 || math.Abs(c[0]-12.5) > 1e-9 || c[1] != 1 {
		t.Errorf("after one session: %v, want [12.5 1]: 50 against 8 calls of 0.5", c)
	}
	// A pull of sixteen calls costs sixteen times as much as a pull of one. The cost of a call is the same.
	l = allocation.NewLearner(2)
	l.Add(0, 16, books.Amounts{Calls: 16, Money: 16}, true)
	l.Add(1, 1, books.Amounts{Calls: 1, Money: 1}, true)
	if c := l.Costs(money); c != nil {
		t.Errorf("calls of one price in pulls of two sizes: %v", c)
	}
}

// Of calls whose tokens scatter by half of their size a policy is hardly ever told, and of a hundredfold price it is after a
// few pulls.
func TestCostsThroughNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	told := 0
	for range 100 {
		l, dear := allocation.NewLearner(10), allocation.NewLearner(2)
		unlike := false
		for pull := range 200 {
			tokens := 1000 * math.Exp(0.5*r.NormFloat64())
			l.Add(pull%10, 1, books.Amounts{Calls: 1, Money: tokens}, true)
			unlike = unlike || l.Costs(money) != nil
			dear.Add(pull%2, 1, books.Amounts{Calls: 1, Money: tokens * math.Pow(100, float64(pull%2))}, true)
			if c := dear.Costs(money); pull >= 3 && (len(c) != 2 || c[0] != 1 || c[1] < 10) {
				t.Fatalf("after %d pulls, every other of them a hundred times as dear: %v", pull+1, c)
			}
		}
		if unlike {
			told++
		}
		if c := dear.Costs(money); c[1] < 60 || c[1] > 160 {
			t.Errorf("100 pulls of each, one a hundred times as dear: %v", c)
		}
	}
	if told > 3 {
		t.Errorf("%d of 100 runs are told of costs that are the same on average", told)
	}
}

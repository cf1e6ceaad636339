package packing

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

// naive packs by priority as its definition says: it asks about every open bin, oldest first, and then a new one.
func naive(items Instance, priority func(item, room int) float64) int {
	var bins []int // how much is free in each
	for _, item := range items {
		chosen, most := -1, math.Inf(-1)
		for i, room := range append(bins, capacity) {
			if room < item {
				continue
			}
			if p := priority(item, room); chosen < 0 || p > most {
				chosen, most = i, p
			}
		}
		if chosen == len(bins) {
			bins = append(bins, capacity)
		}
		bins[chosen] -= item
	}
	return len(bins)
}

// naiveFirstFit puts each item into the first bin with room, without priorities.
func naiveFirstFit(items Instance) int {
	var bins []int
	for _, item := range items {
		i := 0
		for i < len(bins) && bins[i] < item {
			i++
		}
		if i == len(bins) {
			bins = append(bins, capacity)
		}
		bins[i] -= item
	}
	return len(bins)
}

// naiveBestFit puts each item into the fullest bin with room, without priorities.
func naiveBestFit(items Instance) int {
	var bins []int
	for _, item := range items {
		best := -1
		for i, room := range bins {
			if room >= item && (best < 0 || room < bins[best]) {
				best = i
			}
		}
		if best < 0 {
			bins, best = append(bins, capacity), len(bins)
		}
		bins[best] -= item
	}
	return len(bins)
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		items       Instance
		bound       int
		first, best int
		reason      string
	}{
		{Instance{100}, 1, 1, 1, "one item fills a bin"},
		{Instance{1}, 1, 1, 1, "the bound is rounded up"},
		{Instance{51, 51, 51}, 2, 3, 3, "the bound does not see that no two fit together"},
		{Instance{50, 70, 30, 50}, 2, 3, 2, "30 completes 70 if the fullest bin is taken, and fills up 50 if the first is"},
		{Instance{50, 60, 35, 40, 15}, 2, 2, 3, "35 had better not go to the fullest bin"},
	} {
		if got := c.items.bound(); got != c.bound {
			t.Errorf("%v: bound %d, want %d: %s", c.items, got, c.bound, c.reason)
		}
		if got := c.items.firstFit(); got != c.first || got != naiveFirstFit(c.items) {
			t.Errorf("%v: first fit %d, want %d: %s", c.items, got, c.first, c.reason)
		}
		if got := c.items.bestFit(); got != c.best || got != naiveBestFit(c.items) {
			t.Errorf("%v: best fit %d, want %d: %s", c.items, got, c.best, c.reason)
		}
	}
}

func TestFitsOfTheStandardProblem(t *testing.T) {
	p := Weibull()
	for i, items := range append(p.Train, p.Test...) {
		if got, want := items.firstFit(), naiveFirstFit(items); got != want {
			t.Errorf("instance %d: first fit %d, want %d", i, got, want)
		}
		if got, want := items.bestFit(), naiveBestFit(items); got != want {
			t.Errorf("instance %d: best fit %d, want %d", i, got, want)
		}
	}
}

// Random tables with few distinct priorities, so that most choices are among equals.
func TestPackAgainstItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		values := 1 + r.IntN(4)
		var byPair [capacity + 1][capacity + 1]float64
		priority := func(item, room int) float64 { return byPair[item][room] }
		for item := range byPair {
			for room := range byPair[item] {
				byPair[item][room] = float64(r.IntN(values))
			}
		}
		items := newInstance(uint64(i), 1+r.IntN(400))
		if got, want := tabulate(priority).pack(items), naive(items, priority); got != want {
			t.Errorf("instance %d: %d bins, want %d", i, got, want)
		}
	}
}

// The mean of Weibull(3, 45) is 45·Γ(4/3) = 40.184 and its variance 45²·(Γ(5/3) − Γ(4/3)²) = 213.4; rounding
// adds 1/12. Four standard deviations of the mean of 25,000.
func TestItemsAreWeibull(t *testing.T) {
	sum, n := 0, 0
	for _, items := range Weibull().Train {
		for _, v := range items {
			sum, n = sum+v, n+1
		}
	}
	if mean := float64(sum) / float64(n); math.Abs(mean-40.184) > 4*math.Sqrt(213.5/float64(n)) {
		t.Errorf("the mean of %d items is %v, want 40.184", n, mean)
	}
}

// Results are compared with earlier ones, so the instances may not change.
func TestInstancesStayAsTheyAre(t *testing.T) {
	var bounds, first, best []int
	p := Weibull()
	for _, items := range append(p.Train, p.Test...) {
		bounds, first, best = append(bounds, items.bound()), append(first, items.firstFit()), append(best, items.bestFit())
	}
	got := fmt.Sprintf("%v %v %v", bounds, first, best)
	const want = `[2004 2002 2002 2008 2019 1996 2010 1996 2012 2004] [2094 2094 2093 2096 2107 2087 2102 2083 2100 2096] ` +
		`[2082 2085 2083 2088 2099 2082 2093 2075 2092 2085]`
	if got != want {
		t.Errorf("bounds, first fit and best fit are\n%s, want\n%s", got, want)
	}
}

func newRunner(t testing.TB, timeout time.Duration) eval.Runner {
	t.Helper()
	r, err := js.New(js.Config{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// heldOut scores a program as users do, through whatever a task is wrapped in.
func heldOut(ctx context.Context, t task.Task, program string) (eval.Result, bool, error) {
	return task.HeldOut(ctx, task.WithEvaluator(t, eval.Limit(t, 1)), program)
}

// excess returns the excess that program has on the instances for training and on those held out.
func excess(t *testing.T, r eval.Runner, language, program string) (train, test float64) {
	t.Helper()
	task, err := Weibull().Task(r, language)
	if err != nil {
		t.Fatal(err)
	}
	a, err := task.Evaluate(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	b, ok, err := heldOut(t.Context(), task, program)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, r := range []eval.Result{a, b} {
		excess := 0.0
		for _, c := range r.Cases {
			excess += (1/c - 1) / float64(len(r.Cases))
		}
		if math.Abs(excess-r.Metrics["excess"]) > 1e-9 {
			t.Errorf("cases %v have a mean excess of %v, and the metric is %v", r.Cases, excess, r.Metrics["excess"])
		}
		if !r.Valid || r.Score != 1/(1+r.Metrics["excess"]) || r.Score > 1 {
			t.Fatalf("%+v, want a valid result whose score is 1/(1+excess)", r)
		}
	}
	return a.Metrics["excess"], b.Metrics["excess"]
}

// meanExcess is of packing by the naive algorithms.
func meanExcess(on []Instance, pack func(Instance) int) float64 {
	sum := 0.0
	for _, items := range on {
		sum += float64(pack(items))/float64(items.bound()) - 1
	}
	return sum / float64(len(on))
}

func TestProgramsThatAreKnown(t *testing.T) {
	r, p := newRunner(t, 30*time.Second), Weibull()
	task, err := p.Task(r, "javascript")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, program string
		pack          func(Instance) int
	}{
		{"the initial program is first fit", task.Initial(), naiveFirstFit},
		{"best fit", `const priority = (item, room) => item - room`, naiveBestFit},
		{"best fit as a module", `export function priority(item, room) { return -room }`, naiveBestFit},
		{"best fit as CommonJS", `module.exports = { priority: (item, room) => -room }`, naiveBestFit},
		{"best fit as the whole of CommonJS", `module.exports = (item, room) => -room`, naiveBestFit},
		{"best fit by infinite priorities", `function priority(item, room) { return room < 100 ? -room : -Infinity }`,
			naiveBestFit},
		{"best fit with a comment at the end", `function priority(item, room) { return -room } // the end`, naiveBestFit},
	} {
		t.Run(c.name, func(t *testing.T) {
			train, test := excess(t, r, "javascript", c.program)
			if want := meanExcess(p.Train, c.pack); train != want {
				t.Errorf("excess %v, want %v", train, want)
			}
			if want := meanExcess(p.Test, c.pack); test != want {
				t.Errorf("excess %v on held-out instances, want %v", test, want)
			}
		})
	}
}

func TestHostilePrograms(t *testing.T) {
	const whole = `function priority(item, room) { return -room }`
	r := newRunner(t, 2*time.Second)
	task, err := Weibull().Task(r, "javascript")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ why, program, want string }{
		{"a loop when it is asked", `function priority() { for (;;); }`, "ran longer than 2s"},
		{"a loop at load", `for (;;); ` + whole, "ran longer than 2s"},
		{"NaN", `function priority(item, room) { return Math.log(room - item - 1) }`, "priority(1, 1) is NaN"},
		{"nothing", `function priority(item, room) { }`, "priority(1, 1) is no number but of type undefined"},
		{"text", `function priority(item, room) { return '1' }`, "of type string"},
		{"an object", `function priority(item, room) { return { valueOf() { return 1 } } }`, "of type object"},
		{"a BigInt", `function priority(item, room) { return 1n }`, "of type bigint"},
		{"a promise", `async function priority(item, room) { return 1 }`, "of type object"},
		{"throwing", `function priority(item, room) { if (item > 50) throw new Error('too large'); return 1 }`, "too large"},
		{"throwing nothing", `function priority(item, room) { throw undefined }`, "threw"},
		{"a syntax error", `function priority(item, room) { return (1 }`, "does not compile"},
		{"no function", `const x = 1`, "defines no function priority"},
		{"something else of that name", `const priority = 5`, "defines no function priority"},
		{"a comment that goes on", whole + ` /* `, "does not compile"},
		{"a template that goes on", whole + " const s = `", "does not compile"},
		{"a block that goes on", whole + ` if (false) {`, "does not compile"},
		{"its own table, too short", `globalThis.evoalloc_table = () => [1, 2]`, "2 numbers: want 5050"},
		{"its own table, as a constant", `const evoalloc_table = () => []`, "0 numbers: want 5050"},
		{"a longer table", `Array.prototype.push = function (x) { this[this.length] = x; this[this.length] = x }; ` + whole,
			"10100 numbers: want 5050"},
		{"a table of nothing", `Array.prototype.push = function (x) { this[this.length] = null }; ` + whole,
			"number 0 is null"},
		{"a table of text", `Array.prototype.push = function (x) { this[this.length] = 'x' }; ` + whole,
			"want a list of numbers"},
		{"an object for a table", `globalThis.evoalloc_table = () => ({ length: 5050 })`, "want a list of numbers"},
		{"null for a table", `globalThis.evoalloc_table = () => null`, "want a list of numbers"},
		{"a result set at load", `var bins = 1, score = 1, excess = 0`, "defines no function priority"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := task.Evaluate(t.Context(), c.program)
			if err != nil {
				t.Fatal(err)
			}
			if got.Valid || got.Score != 0 || !strings.Contains(got.Reason, c.want) {
				t.Errorf("valid %v, score %v, reason %q; want it invalid because of %q", got.Valid, got.Score, got.Reason, c.want)
			}
		})
	}
}

// A program that tampers with all it can reach gets what the table it brings about deserves.
func TestTamperingGainsNothing(t *testing.T) {
	const program = `
Array.prototype.push = function () { this[this.length] = 0 };
Number.MAX_VALUE = -1;
Math.min = () => -1e9;
let calls = 0;
function priority(item, room) { calls++; return calls }`
	train, _ := excess(t, newRunner(t, 30*time.Second), "javascript", program)
	if want := meanExcess(Weibull().Train, naiveFirstFit); train != want {
		t.Errorf("excess %v, want that of a table of zeros, which is first fit: %v", train, want)
	}
}

func TestPython(t *testing.T) {
	if _, err := python.Find(t.Context()); err != nil {
		notrun.Say("task/packing", "rules in Python", err, "install python3")
		notrun.Skip(t)
	}
	r, err := python.NewRunner(t.Context(), python.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := Weibull()
	task, err := p.Task(r, "python")
	if err != nil {
		t.Fatal(err)
	}
	if train, _ := excess(t, r, "python", task.Initial()); train != meanExcess(p.Train, naiveFirstFit) {
		t.Errorf("the initial program has an excess of %v, want first fit's", train)
	}
	for _, c := range []struct{ why, program, want string }{
		{"NaN", "def priority(item, room):\n    return float('nan')", "priority(1, 1) is NaN"},
		{"nothing", "def priority(item, room):\n    pass", "NoneType"},
		{"no function", "x = 1", "defines no function priority"},
	} {
		got, err := task.Evaluate(t.Context(), c.program)
		if err != nil {
			t.Fatal(err)
		}
		if got.Valid || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: valid %v, reason %q; want it invalid because of %q", c.why, got.Valid, got.Reason, c.want)
		}
	}
}

func TestWrongProblems(t *testing.T) {
	r := newRunner(t, time.Second)
	for _, c := range []struct {
		p              Problem
		language, want string
	}{
		{Problem{}, "javascript", "Train: no instances"},
		{Problem{Train: []Instance{{1}}}, "javascript", "Test: no instances"},
		{Weibull(), "cobol", `"cobol": have javascript, python`},
		{Problem{Train: []Instance{{1}, {}}}, "javascript", "packing: Problem.Train: instance 1: no items"},
		{Problem{Train: []Instance{{5, 101}}}, "javascript", "item 1 is 101: need 1 to 100"},
		{Problem{Train: []Instance{{1}}, Test: []Instance{{0}}}, "javascript", "Test: instance 0: item 0 is 0"},
	} {
		if _, err := c.p.Task(r, c.language); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Task: error %v, want %q", err, c.want)
		}
	}
}

func FuzzDecodeTable(f *testing.F) {
	f.Add([]byte(`[1, 2]`))
	f.Add([]byte(`[` + strings.Repeat("0,", pairs-1) + `1]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := decodeTable(data)
		if err != nil {
			return
		}
		items := newInstance(0, 100)
		if bins := table.pack(items); bins < items.bound() || bins > len(items) {
			t.Errorf("%d bins for %d items of bound %d", bins, len(items), items.bound())
		}
	})
}

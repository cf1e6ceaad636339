package timing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// A faster program scores more, with the metrics that say by how much.
func TestFaster(t *testing.T) {
	e, err := machine(t).Evaluator(t.Context(), config())
	if err != nil {
		t.Fatal(err)
	}
	slow := strings.Replace(seed, "    out[:]", "    np.sin(np.cos(np.sin(np.cos(x))))\n    out[:]", 1)
	// A machine that does much else may spoil one measurement, and hardly ten.
	evaluate := func(program string, ok func(score float64) bool) (r eval.Result, err error) {
		for range 10 {
			if r, err = e.Evaluate(t.Context(), program); err != nil || !r.Valid || ok(r.Score) {
				break
			}
		}
		return r, err
	}
	r, err := evaluate(slow, func(score float64) bool { return score < 0.9 })
	if err != nil || !r.Valid || r.Score >= 0.9 {
		t.Errorf("with twice the work: %+v, %v", r, err)
	}
	r, err = evaluate("def f(x, out): return None\n"+strings.Replace(blocks, "def f", "def g", 1)+"f = g\n",
		func(score float64) bool { return score > 1.1 })
	if err != nil || !r.Valid || r.Score != r.Metrics["speedup"] || r.Score <= 1.1 {
		t.Errorf("in blocks: %+v, %v", r, err)
	}
	if m := r.Metrics; m["pairs"] != 11 || m["seconds"] <= 0 || m["baseline_seconds"] <= m["seconds"] ||
		m["elapsed_speedup"] <= 0 || m["sd"] < 0 {
		t.Errorf("metrics %v", m)
	}
}

// Whoever is asked, one evaluation of a machine is under way.
func TestOneAtATime(t *testing.T) {
	m := machine(t)
	var under, most atomic.Int32
	cfg := config()
	cfg.Input, cfg.Others = draw(1000), nil
	build := cfg.Build
	cfg.Build = func(ctx context.Context, program string) (Image, error) {
		most.Store(max(most.Load(), under.Add(1)))
		defer under.Add(-1)
		time.Sleep(20 * time.Millisecond)
		if program == "refused" { // without a process, as this is about who is asked when
			return Image{}, fault("%s", program)
		}
		return build(ctx, program)
	}
	var all sync.WaitGroup
	for range 2 {
		e, err := m.Evaluator(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			all.Go(func() {
				if r, err := e.Evaluate(t.Context(), "refused"); err != nil || r.Reason != "refused" {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d evaluations at once", most.Load())
	}
}

// What fails without the candidate's fault is an error: a baseline that does not run, an input that is too large, a
// context that has ended.
func TestErrors(t *testing.T) {
	m := machine(t)
	for _, tt := range []struct {
		why  string
		set  func(*Config)
		want string
	}{
		{"the baseline is wrong", func(c *Config) { c.Baseline = "def f(x, out): raise ValueError('no')" },
			"the baseline ValueError: no"},
		{"the baseline defines something else", func(c *Config) { c.Baseline = "g = 1" }, "defines no function f"},
		{"the baseline changes its input",
			func(c *Config) { c.Baseline = "def f(x, out):\n x.flags.writeable = True\n x += 1" },
			"the baseline changed its input"},
		{"too large an input", func(c *Config) { c.Bytes = 4096 }, "Config.Bytes allows 4096"},
		{"no Python", func(c *Config) { c.Build = Python("/nowhere/python3", "f") }, "the baseline"},
		{"the build fails", func(c *Config) {
			c.Build = func(context.Context, string) (Image, error) { return Image{}, errors.New("no compiler") }
		}, "no compiler"},
	} {
		cfg := config()
		tt.set(&cfg)
		if _, err := m.Evaluator(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
	cfg := config()
	e, err := m.Evaluator(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r, err := e.Evaluate(ctx, "def f(x, out):\n while True: pass"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a context that ends: %+v, %v", r, err)
	}
}

func TestConfig(t *testing.T) {
	good := Config{Build: Python("python3", "f"), Baseline: "x", Input: draw(1)}
	if c, err := good.filled(); err != nil || c.Pairs != 15 || c.WarmUps != 2 || c.Timeout != 10*time.Second ||
		c.Output(make([]byte, 24)) != 24 {
		t.Errorf("%+v, %v", c, err)
	}
	for want, set := range map[string]func(*Config){
		"Build":    func(c *Config) { c.Build = nil },
		"Baseline": func(c *Config) { c.Baseline = "" },
		"Input":    func(c *Config) { c.Input = nil },
		"Pairs":    func(c *Config) { c.Pairs = -1 },
		"Clock":    func(c *Config) { c.Clock = 2 },
		"Cores":    func(c *Config) { c.Cores = -1 },
		"Timeout":  func(c *Config) { c.Timeout = 1 },
		"Load":     func(c *Config) { c.Load = -1 },
		"Total":    func(c *Config) { c.Total = -1 },
		"Memory":   func(c *Config) { c.Memory = 1 },
		"Bytes":    func(c *Config) { c.Bytes = -1 },
	} {
		c := good
		set(&c)
		if _, err := c.filled(); err == nil || !strings.Contains(err.Error(), "timing: Config."+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestChecks(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		want, got []float64
		ok        bool
	}{
		{[]float64{1, 2}, []float64{1, 2 + 1e-10}, true},
		{[]float64{1, 2}, []float64{1, 2 + 1e-8}, false},
		{[]float64{inf, nan}, []float64{inf, nan}, true},
		{[]float64{inf}, []float64{1}, false},
		{[]float64{1}, []float64{inf}, false},
		{[]float64{inf}, []float64{-inf}, false},
		{[]float64{1}, []float64{nan}, false},
		{[]float64{nan}, []float64{1}, false},
		{nil, nil, true},
	} {
		if err := Close(1e-9, 0)(nil, Floats(tt.want), Floats(tt.got)); (err == nil) != tt.ok {
			t.Errorf("%v for %v: %v", tt.got, tt.want, err)
		}
	}
	if err := equal(nil, Ints([]int{1, 2}), Ints([]int{1, 3})); err == nil || err.Error() != "byte 8 of 16 is 3: want 2" {
		t.Error(err)
	}
}

// The score is the median ratio, and the sd theirs; worked out by hand.
func TestTimes(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	pairOf := func(b, c, elapsed, strangers int) pair {
		return pair{duration{ms(b), ms(b), 0}, duration{ms(c), ms(elapsed), ms(strangers)}}
	}
	all := times{pairOf(10, 5, 10, 0), pairOf(20, 20, 5, 4), pairOf(30, 10, 20, 5)}
	r := all.result(Config{})
	if r.Score != 2 || r.Metrics["sd"] != 1 || r.Metrics["seconds"] != 0.01 || r.Metrics["baseline_seconds"] != 0.02 ||
		r.Metrics["elapsed_speedup"] != 1.5 {
		t.Errorf("%+v", r)
	}
	if _, ok := r.Metrics["strangers"]; ok {
		t.Errorf("strangers by processor time: %+v", r)
	}
	if r := all.result(Config{Clock: Elapsed, Cores: 2}); r.Score != 1.5 ||
		math.Abs(r.Metrics["strangers"]-9./190) > 1e-12 { // 1, 4, 1.5
		t.Errorf("%+v", r)
	}
	if r := (times{pair{}}).result(Config{Clock: Elapsed, Cores: 1}).Clean(); !r.Valid || r.Score != 1 ||
		r.Metrics["sd"] != 0 || r.Metrics["strangers"] != 0 {
		t.Errorf("%+v", r)
	}
}

// Of the pairs, those count during which other processes used the processors least. A call of 400 ms on two processors
// bears 40 ms of them, and 20 ms that the kernel's clock cannot tell.
func TestCalmest(t *testing.T) {
	used := func(baseline, candidate int) pair {
		d := func(n int) duration {
			return duration{0, 400 * time.Millisecond, time.Duration(n) * time.Millisecond}
		}
		return pair{d(baseline), d(candidate)}
	}
	all := times{used(0, 61), used(0, 60), used(100, 0), used(60, 60), used(0, 0), used(80, 62)}
	cfg := Config{Clock: Elapsed, Cores: 2, Pairs: 4}
	if n := all.disturbed(cfg); n != 3 {
		t.Errorf("%d disturbed pairs, want 3", n)
	}
	if got, want := slices.Clone(all).calmest(cfg), (times{all[1], all[3], all[4], all[0]}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	cfg.Clock = CPU
	if got := slices.Clone(all).calmest(cfg); all.disturbed(cfg) != 0 || !slices.Equal(got, all[:4]) {
		t.Errorf("by processor time: %v", got)
	}
}

// Rounds has the warm-ups first, and others anywhere among the timed rounds.
func TestRounds(t *testing.T) {
	cfg, err := Config{Build: Python("python3", "f"), Baseline: "x", Input: draw(1), Pairs: 3,
		Others: func(*rand.Rand) [][]byte { return [][]byte{{1}, nil} }}.filled()
	if err != nil {
		t.Fatal(err)
	}
	orders := make(map[string]bool)
	for i := range uint64(200) {
		var order []byte
		for _, r := range (&evaluator{cfg: cfg}).rounds(rand.New(rand.NewPCG(i, 0))) {
			switch {
			case r.timed:
				order = append(order, 't')
			case r.drawn:
				order = append(order, 'w')
			default:
				order = binary.AppendUvarint(order, uint64(len(r.in)))
			}
		}
		if !strings.HasPrefix(string(order), "ww") || strings.Count(string(order), "t") != 3 || len(order) != 7 {
			t.Fatalf("%q", order)
		}
		orders[string(order)] = true
	}
	if len(orders) != 20 { // 5!/3!
		t.Errorf("%d orders, want 20", len(orders))
	}
}

var _ eval.Evaluator = (*evaluator)(nil)

// A program that ends once, as when another process has taken all memory, is timed again and not lost. One that always
// ends is at fault.
func TestHiccup(t *testing.T) {
	m := machine(t)
	cfg := config()
	cfg.Pairs, cfg.Input, cfg.Others = 1, draw(1000), nil
	e, err := m.Evaluator(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	const until = "import os, time\nend = %f\nif time.time() < end:\n    time.sleep(max(end - time.time(), 0))\n    os._exit(0)\n"
	once := fmt.Sprintf(until, float64(time.Now().UnixMilli())/1000+5) + seed
	if r, err := e.Evaluate(t.Context(), once); err != nil || !r.Valid {
		t.Errorf("ended once: %+v, %v", r, err)
	}
	if r, err := e.Evaluate(t.Context(), "import os\nos._exit(0)\n"); err != nil || r.Valid ||
		r.Reason != "ended before it had answered" {
		t.Errorf("always ends: %+v, %v", r, err)
	}
}

// A program whose calls are each within their limit is decided when their sum passes another, by default one that follows
// the baseline. The baseline itself is within it.
func TestTotal(t *testing.T) {
	cfg := config()
	cfg.Input, cfg.Others, cfg.Timeout = draw(1000), nil, time.Second
	slow := func(seconds float64) string {
		return fmt.Sprintf("import time\n%sg = f\ndef f(x, out):\n    time.sleep(%v)\n    g(x, out)\n", seed, seconds)
	}
	for _, tt := range []struct {
		baseline, candidate string
		total               time.Duration
		reason              string
	}{
		{seed, slow(0.5), 2 * time.Second, "took longer than 2s for all of its calls"},
		{seed, slow(0.4), 0, "took longer than "},
		{slow(0.15), slow(0.15), 0, ""},
	} {
		cfg.Baseline, cfg.Total, cfg.Pairs = tt.baseline, tt.total, 7
		if tt.reason != "" {
			cfg.Pairs = 100_000
		}
		e, err := machine(t).Evaluator(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Evaluate(t.Context(), tt.candidate)
		if err != nil || r.Valid != (tt.reason == "") || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%+v, %v, want %q", r, err, tt.reason)
		}
	}
}

// What a program does with an input of nothing is checked like the rest.
func TestEmptyInput(t *testing.T) {
	cfg := config()
	cfg.Pairs, cfg.Input = 1, draw(1000)
	e, err := machine(t).Evaluator(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Evaluate(t.Context(),
		seed+"g = f\ndef f(x, out):\n    if len(x) == 0: raise ValueError('nothing')\n    g(x, out)\n")
	if err != nil || r.Valid || r.Reason != "ValueError: nothing" {
		t.Errorf("%+v, %v", r, err)
	}
}

package gofunc

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/timing"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

const (
	initial = `package sorting

import "slices"

// Sort sorts xs.
func Sort(xs []int) { slices.Sort(xs) }
`
	driver = `package driver

import (
	"unsafe"

	sorting "zz/candidate"
)

func Drive(in, out []byte) {
	copy(out, in)
	sorting.Sort(unsafe.Slice((*int)(unsafe.Pointer(unsafe.SliceData(out))), len(out)/8))
}
`
	test = `package sorting_test

import (
	"slices"
	"testing"

	sorting "zz/candidate"
)

func TestSort(t *testing.T) {
	xs := []int{3, 1, 2}
	if sorting.Sort(xs); !slices.IsSorted(xs) {
		t.Error("not sorted")
	}
}
`
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func numbers(n int) func(*rand.Rand) []byte {
	return func(r *rand.Rand) []byte {
		xs := make([]int, n)
		for i := range xs {
			xs[i] = r.Int()
		}
		return timing.Ints(xs)
	}
}

func config(t *testing.T) Config {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("timing needs Linux")
	}
	m, err := timing.NewMachine(timing.MachineConfig{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return Config{Name: "sorting", Initial: initial, Driver: driver, Machine: m, Folder: t.TempDir(), Logger: quiet,
		Build: 10 * time.Minute,
		Timing: timing.Config{Input: numbers(40_000), Pairs: 9, Timeout: 10 * time.Second, Memory: 2 << 30, Bytes: 1 << 20,
			Others: func(r *rand.Rand) [][]byte { return [][]byte{nil, numbers(1)(r), numbers(999)(r)} }}}
}

func sorting(t *testing.T, cfg Config) task.Task {
	t.Helper()
	s, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func evaluate(t *testing.T, s task.Task, program string) eval.Result {
	t.Helper()
	r, err := s.Evaluate(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settles evaluates a program until its score is as it should be, at most ten times: a machine that does much else may
// spoil one measurement, and hardly ten.
func settles(t *testing.T, s task.Task, program string, low, high float64) {
	t.Helper()
	var r eval.Result
	for range 10 {
		if r = evaluate(t, s, program); !r.Valid || r.Score >= low && r.Score <= high {
			break
		}
	}
	if !r.Valid || r.Score < low || r.Score > high {
		t.Errorf("%+v, want a score of %v to %v for\n%s", r, low, high, program)
	}
}

// A slower function scores less, one that does not sort or compile is invalid, and says why.
func TestScores(t *testing.T) {
	cfg := config(t)
	cfg.Test = test
	s := sorting(t, cfg)
	settles(t, s, s.Initial(), 0.5, 2)
	twice := strings.Replace(initial, "{ slices.Sort(xs) }",
		"{ slices.Sort(slices.Clone(xs)); slices.Sort(slices.Clone(xs)); slices.Sort(xs) }", 1)
	settles(t, s, twice, 0, 0.7)
	for _, tt := range []struct{ why, program, said string }{
		{"the test fails", "package sorting\nfunc Sort(xs []int) {}", "not sorted"},
		{"it does not compile", "package sorting\nfunc Sort(xs []int) { return 1 }", "too many return values"},
		{"another name", "package sorting\nfunc Sorted(xs []int) {}", "undefined: sorting.Sort"},
	} {
		if r := evaluate(t, s, tt.program); r.Valid || !strings.Contains(r.Artifacts["stderr"], tt.said) {
			t.Errorf("%s: %+.500v, want it told of %q", tt.why, r, tt.said)
		}
	}
}

// before is put before each attack.
const before = `package sorting

import "slices"

func work(xs []int) { slices.Sort(xs) }

`

// An attack is a program that wants a score that it does not deserve.
type attack struct {
	name, program string
	valid         bool // may be
}

// None of these programs gains: it is invalid, or scores no more than an honest copy of the baseline. The normal run
// takes one each that keeps answers, leaves work to a goroutine, takes memory and waits.
func TestHostile(t *testing.T) {
	s := sorting(t, config(t))
	for _, a := range notrun.Few([]attack{
		{"does nothing", `func Sort(xs []int) {}`, false},
		{"answers with what it cached", `var kept = map[int][]int{}
func Sort(xs []int) {
	if kept[len(xs)] == nil { work(xs); kept[len(xs)] = slices.Clone(xs) }
	copy(xs, kept[len(xs)])
}`, false},
		{"is right while it is warmed up", `var calls int
func Sort(xs []int) { if calls++; calls < 5 { work(xs) } }`, false},
		{"is right where it takes a call for a check, by its length",
			`func Sort(xs []int) { if len(xs) < 5000 { work(xs) } }`, false},
		{"is right but seldom", `var calls int
func Sort(xs []int) { if calls++; calls % 3 != 0 { work(xs) } }`, false},
		{"sorts all but a few", `func Sort(xs []int) { if len(xs) > 8 { work(xs[:len(xs)*99/100]) } else { work(xs) } }`,
			false},
		{"answers in order with other numbers", `func Sort(xs []int) { for i := range xs { xs[i] = i } }`, false},
		{"answers at once and goes on in a goroutine", `func Sort(xs []int) { go work(xs) }`, true}, // which may come first
		{"answers half and goes on in a goroutine", `func Sort(xs []int) {
	go func() { work(xs) }()
	for range 1000 { _ = slices.IsSorted(xs) }
}`, true},
		{"writes to what it was given by the last call", `var last []int
func Sort(xs []int) { for i := range last { last[i] = 0 }; work(xs); last = xs }`, true},
		{"goes on in goroutines, to slow the baseline down", `func init() { for range 8 { go func() { for { work(make([]int, 1000)) } }() } }
func Sort(xs []int) { work(xs) }`, true},
		{"computes in many goroutines", `func Sort(xs []int) {
	done := make(chan bool)
	n := len(xs) / 2
	go func() { work(xs[:n]); done <- true }()
	work(xs[n:]); <-done
	work(xs)
}`, true},
		{"takes all memory", `var kept [][]int
func Sort(xs []int) { for { kept = append(kept, make([]int, 1<<24)) } }`, false},
		{"panics", `func Sort(xs []int) { panic("score 1e9") }`, false},
		{"does not come back", `func Sort(xs []int) { for {} }`, false},
		{"waits for nothing", `func Sort(xs []int) { select {} }`, false},
		{"prints without end", `func init() { for range 100000 { println("\n") } }
func Sort(xs []int) { work(xs); println("\n") }`, true},
		{"frees nothing", `var kept [][]int
func Sort(xs []int) { kept = append(kept, make([]int, len(xs))); work(xs) }`, true},
	}, 1, 7, 12, 15) {
		t.Run(a.name, func(t *testing.T) {
			r := evaluate(t, s, before+a.program)
			for i := 0; i < 2 && r.Valid && r.Score >= 1.3; i++ { // what gains does so each time, and noise does not
				r = evaluate(t, s, before+a.program)
			}
			t.Logf("%v %.3f %s", r.Valid, r.Score, r.Reason)
			if r.Valid && (!a.valid || r.Score >= 1.3) {
				t.Errorf("gains: %+v", r)
			}
		})
	}
	settles(t, s, initial, 0, 1.3) // after all that
}

// What leads out of the language is refused before it is compiled.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ program, want string }{
		{"package sorting\nimport \"os\"", `imports "os"`},
		{"package sorting\nimport \"unsafe\"", `imports "unsafe"`},
		{"package sorting\nimport _ \"runtime\"", `imports "runtime"`},
		{"package sorting\nimport (\n\"slices\"\n. \"syscall\"\n)", `imports "syscall"`},
		{"package sorting\nimport \"net\"", `imports "net"`},
		{"package sorting\nimport \"time\"", `imports "time"`},
		{"package sorting\nimport \"reflect\"", `imports "reflect"`},
		{"package sorting\nimport `testing`", "imports `testing`"},
		{"package sorting\n// int x;\nimport \"C\"", `imports "C"`},
		{"package sorting\nimport \"zz/driver\"", `imports "zz/driver"`},
		{"package sorting\n//go:linkname nanotime runtime.nanotime\nfunc nanotime() int64", "directive"},
		{"package sorting\nfunc nanotime() int64", "declares nanotime without a body"},
		{"//go:build ignore\n\npackage sorting", "directive"},
		{"// +build ignore\n\npackage sorting", "directive"},
		{"package sorting\n/*line main.go:1*/", "directive"},
		{"package main", "is package main: want sorting"},
		{"package sorting\nfunc len(any) int { return 0 }", "declares len for the whole package"},
		{"package sorting\nvar a, true = 1, false", "declares true for"},
		{"package sorting\nconst nil = 0", "declares nil for"},
		{"package sorting\ntype (\nT int\nint64 int8\n)", "declares int64 for"},
		{"package sorting\nimport cap \"slices\"", "declares cap for"},
		{"package sorting\nfunc", "does not parse"},
	} {
		if err := check(tt.program, "sorting", Imports()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.program, err, tt.want)
		}
	}
	if err := check("package sorting\n\nimport \"slices\"\n\ntype list []int\n\nfunc (l list) len() int { return len(l) }\n\n//go:noinline\nfunc Sort(xs []int) { max := 1; _ = max; slices.Sort(xs) }", "sorting", Imports()); err != nil {
		t.Error(err)
	}
}

// Nothing that a candidate may import by default leads to unsafe memory, or to the system, by an exported name.
func TestImportsAreStandard(t *testing.T) {
	out, err := exec.Command("go", append([]string{"list"}, Imports()...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// With Race, a function with a data race is invalid, however right it is.
func TestRace(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		notrun.Say("task/gofunc", "the race detector", err, "install gcc")
		notrun.Skip(t)
	}
	cfg := config(t)
	cfg.Test, cfg.Race = test, true
	racy := before + `var count int
func Sort(xs []int) {
	done := make(chan bool)
	go func() { count++; done <- true }()
	count++
	work(xs); <-done
}`
	s := sorting(t, cfg)
	if r := evaluate(t, s, racy); r.Valid || !strings.Contains(r.Artifacts["stderr"], "DATA RACE") {
		t.Errorf("%+.500v", r)
	}
	if r := evaluate(t, s, initial); !r.Valid {
		t.Errorf("%+.500v", r)
	}
}

func TestConfig(t *testing.T) {
	for want, set := range map[string]func(*Config){
		"Config.Initial is empty":                              func(c *Config) { c.Initial = "" },
		"Config.Driver is empty":                               func(c *Config) { c.Driver = "" },
		"Config.Folder is empty":                               func(c *Config) { c.Folder = "" },
		"Config.Machine is nil":                                func(c *Config) { c.Machine = nil },
		"Config.Race without a Test":                           func(c *Config) { c.Race = true },
		"trying the initial program":                           func(c *Config) { c.Initial = "package sorting\nfunc Sort(xs []string) {}" },
		"Config.Initial: ":                                     func(c *Config) { c.Initial = "no Go" },
		"Config.Input is nil":                                  func(c *Config) { c.Timing.Input = nil },
		"Config.Test is of package sorting: need sorting_test": func(c *Config) { c.Test = "package sorting" },
		"Config.Test: ":                                        func(c *Config) { c.Test = "no Go" },
	} {
		cfg := config(t)
		set(&cfg)
		if _, err := New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

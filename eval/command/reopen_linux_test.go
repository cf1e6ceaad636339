package command

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// apart is a command that gives the candidate another output than its own, and prints a score itself.
const apart = `sh "$1" > candidate.out 2>&1; echo 1; sleep 0.1`

// forging are ways to print a score all the same. Each tries every process and descriptor that it finds. The
// one that starts processes leaves out what it cannot write to: they would be too many where it sees the
// whole machine, and the command would then find no room for its own.
var forging = []struct{ name, script string }{
	{"a digit before the score", `for fd in /proc/[0-9]*/fd/*; do printf 9 > $fd; done`},
	{"a digit before the score, through a thread", `for fd in /proc/[0-9]*/task/*/fd/*; do printf 9 > $fd; done`},
	{"its parent's output", `for fd in 1 10 11 12; do printf 9 > /proc/$PPID/fd/$fd; done`},
	{"appending to its parent's output", `for fd in 1 10 11 12; do printf 9 >> /proc/$PPID/fd/$fd; done`},
	{"reading and writing its parent's output", `for fd in 1 10 11 12; do printf 9 1<> /proc/$PPID/fd/$fd; done`},
	{"a line after the score", `for fd in /proc/[0-9]*/fd/*; do if test -w $fd; then (sleep 0.05; echo 1e9) >> $fd & fi; done`},
	{"the files of the first process", `for fd in 1 2 3 10 255; do printf 9 > /proc/1/fd/$fd; done`},
	{"its own descriptors", `for fd in 3 4 5 6 7 8 9; do eval "printf 9 >&$fd"; done; printf 9 > /dev/stdout; printf 9 > /dev/fd/1`},
}

// A candidate that was given another output than the command's prints no score: not even by opening the
// command's output by its name in /proc.
func TestReopen(t *testing.T) {
	t.Parallel()
	cfg := shell
	cfg.Args = []string{"sh", "-c", apart, "sh", "{program}"}
	perFamily(t, func(t *testing.T, family string, ms []isolation.Mechanism) { testReopen(t, without(t, cfg, ms)) })
	t.Run("strict", func(t *testing.T) {
		t.Parallel()
		strict := cfg
		strict.Isolation, strict.Logger = isolation.Strict, quiet
		e, err := NewEvaluator(strict)
		if err != nil {
			t.Skip(err)
		}
		testReopen(t, e)
	})
}

func testReopen(t *testing.T, e *Evaluator) {
	for _, f := range forging {
		if r, err := e.Evaluate(t.Context(), f.script); err != nil || r.Score != 1 {
			t.Errorf("%s: got %+v, %v, want the score that the command printed", f.name, r, err)
		}
		if r, err := e.Evaluate(t.Context(), "echo 1e9"); err != nil || r.Score != 1 || !r.Valid {
			t.Errorf("after %s: an honest candidate got %+v, %v", f.name, r, err)
		}
	}
}

// The memory of a command that runs a candidate cannot be opened to write to, with Landlock or with
// private mounts, where all of /proc is read-only.
func TestMemory(t *testing.T) {
	t.Parallel()
	cfg := shell
	cfg.Args = []string{"sh", "-c", `sh "$1" > candidate.out 2>&1; test -e opened && echo 2 || echo 1`, "sh", "{program}"}
	perFamily(t, func(t *testing.T, family string, ms []isolation.Mechanism) {
		e := without(t, cfg, ms)
		if !e.Isolation().Has(sandbox.Landlock) && !e.Isolation().Has(sandbox.MountNS) {
			t.Skip("nothing stops it, which docs/security.md says")
		}
		for _, attack := range []string{"true <> /proc/$PPID/mem && echo > opened",
			"true > /proc/$PPID/task/$PPID/mem && echo > opened",
			"for m in /proc/[0-9]*/mem; do true <> $m && test $m != /proc/$$/mem && echo > opened; done"} {
			if r, err := e.Evaluate(t.Context(), attack); err != nil || r.Score != 1 {
				t.Errorf("%s: got %+v, %v", strings.Fields(attack)[2], r, err)
			}
		}
	})
}

// With private mounts and a pid namespace a command sees no process but its own.
func TestSeesItself(t *testing.T) {
	t.Parallel()
	e := without(t, shell, nil)
	if !e.Isolation().Has(sandbox.PIDNS) || !e.Isolation().Has(sandbox.MountNS) {
		t.Skip(e.Isolation())
	}
	r, err := e.Evaluate(t.Context(), `set -- /proc/[0-9]*; echo $#`)
	if err != nil || !r.Valid || r.Score > 2 {
		t.Errorf("got %+v, %v, want the command and the shell that started it", r, err)
	}
}

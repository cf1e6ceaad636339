package mutate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
)

const rule = `function shape(size, left) {
  const gap = left - size;
  const table = [1, 2, 3];
  for (let i = 0; i < 3; i++) {
    table[i] += size * 2;
  }
  if (gap < 3 && size > 1) return Math.max(4, gap);
  return gap > 20 ? table[0] : -gap / 100;
}
function entry() {
  return [shape(5, 50), shape(50, 51)];
}`

// seeded returns a Draw of its own for each i.
func seeded(i int) Draw { return Draw{rand.New(rand.NewPCG(uint64(i), 1))} }

// names returns the identifiers in a program.
func names(program string) []string {
	found := regexp.MustCompile(`[A-Za-z_$][\w$]*`).FindAllString(program, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func newRunner(t *testing.T) *js.Runner {
	t.Helper()
	r, err := js.New(js.Config{Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What an edit makes is JavaScript, other than it was, made of the program's names and Math's. Headers of loops stay
// as they are, so that all end.
func TestStructure(t *testing.T) {
	r := newRunner(t)
	known := append(names(rule), names("Math min max abs sqrt exp log pow")...)
	before, ok := outlineOf(rule)
	if !ok {
		t.Fatal("the program cannot be read")
	}
	const n = 400
	seen, runs, none := map[string]bool{}, 0, 0
	for i := range n {
		got, ok := Structure(rule, Bias{}, seeded(i))
		if ok != (got != rule) || got == before.text() {
			t.Errorf("edit %d is said to change something, %v:\n%s", i, ok, got)
		}
		if !ok {
			none++ // two edits may undo each other
			continue
		}
		for _, name := range names(got) {
			if !slices.Contains(known, name) {
				t.Errorf("edit %d uses %q, which is not the program's:\n%s", i, name, got)
			}
		}
		if strings.Contains(got, "for (") && !strings.Contains(got, "for (let i = 0; i < 3; i++)") {
			t.Errorf("edit %d changes the header of a loop:\n%s", i, got)
		}
		seen[got] = true
		_, err := r.Run(t.Context(), got, "entry")
		var wrong *eval.ProgramError
		switch {
		case err == nil:
			runs++
		case !errors.As(err, &wrong) || strings.Contains(wrong.Reason, "does not compile") ||
			strings.Contains(wrong.Reason, "longer"):
			t.Errorf("edit %d: %v:\n%s", i, err, got)
		}
	}
	if len(seen) < n*3/4 || runs < n*3/4 || none > n/50 {
		t.Errorf("of %d edits %d are distinct, %d run and %d change nothing", n, len(seen), runs, none)
	}
}

// Each edit does what its name says.
func TestEdits(t *testing.T) {
	count := strings.Count
	for _, c := range []struct {
		name, program string
		make          func(sculptor) func() bool
		want          func(got string) bool
		reason        string
	}{
		{"replace", "function f(a) { return a + 7; }", func(s sculptor) func() bool { return s.replace },
			func(got string) bool { return strings.HasPrefix(got, "function f(a) {\n    return ") }, "the statement stays"},
		{"extend", "function f(a) { return a * 7; }", func(s sculptor) func() bool { return s.extend },
			func(got string) bool { return strings.Contains(got, "a") && strings.Contains(got, "7") },
			"the old is part of the new"},
		{"shrink", "function f(a) { return a * 7; }", func(s sculptor) func() bool { return s.shrink },
			func(got string) bool { return strings.Contains(got, "return a;") || strings.Contains(got, "return 7;") },
			"one part is left"},
		{"duplicate", "function f(a) { return [a, 7]; }", func(s sculptor) func() bool { return s.duplicate },
			func(got string) bool { return strings.Contains(got, "[a, a]") || strings.Contains(got, "[7, 7]") },
			"one stands twice"},
		{"swap", "function f(a) { return [a, 7]; }", func(s sculptor) func() bool { return s.swap },
			func(got string) bool { return strings.Contains(got, "[7, a]") }, "both are there, the other way round"},
		{"alter", "function f(a) { return 2 < 3; }", func(s sculptor) func() bool { return s.alter },
			func(got string) bool { return regexp.MustCompile(`return 2 (<|<=|>|>=) 3;`).MatchString(got) },
			"the operands stay"},
		{"insert", "function f(a) { return 7; }", func(s sculptor) func() bool { return s.insert },
			func(got string) bool { return count(got, "if (") == 1 && count(got, "return") == 2 }, "a value is returned early"},
		{"guard", "function f(a) { return 7; }", func(s sculptor) func() bool { return s.guard },
			func(got string) bool { return count(got, "if (") == 1 && count(got, "return 7;") == 1 },
			"the statement is under a condition"},
		{"remove", "function f(a) { a++; return 7; }", func(s sculptor) func() bool { return s.remove },
			func(got string) bool { return count(got, "a++")+count(got, "return 7") == 1 }, "one of two is left"},
		{"repeat", "function f(a) { return 7; }", func(s sculptor) func() bool { return s.repeat },
			func(got string) bool { return count(got, "return") == 2 && count(got, "return 7;") >= 1 },
			"a second one stands before it"},
		{"move", "function f(a) { a++; return 7; }", func(s sculptor) func() bool { return s.move },
			func(got string) bool { return count(got, "a++") == 1 && count(got, "return 7") == 1 }, "both are left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, changed := 0, 0
			for i := range 200 {
				o, ok := outlineOf(c.program)
				if !ok {
					t.Fatal("the program cannot be read")
				}
				before := o.text()
				if !c.make(sculptor{grower{Draw: seeded(i)}, o})() {
					continue
				}
				made++
				again, ok := outlineOf(o.text())
				if !ok {
					t.Fatalf("seed %d: no JavaScript: %s", i, o.text())
				}
				if got := again.text(); got != before {
					changed++
					if !c.want(got) {
						t.Fatalf("seed %d: %s, but %s", i, got, c.reason)
					}
				}
			}
			if made == 0 || changed < made/5 {
				t.Errorf("%d of 200 could be made, and %d changed something", made, changed)
			}
		})
	}
}

// New code uses what is in scope where it stands, so that edits that add code never break a program by its names.
func TestNamesAreInScope(t *testing.T) {
	const program = `function f(a) { const b = a + 1; if (a > 2) { const c = 3; return c + b; } return b; }
const g = (x) => { let y = x; for (let k = 0; k < 2; k++) { y += k; } return y; };
class C { m(z) { return z; } }
function entry() { return [f(1), f(5), g(2), new C().m(3)]; }`
	r := newRunner(t)
	for i := range 300 {
		o, ok := outlineOf(program)
		if !ok {
			t.Fatal("the program cannot be read")
		}
		s := sculptor{grower{Draw: seeded(i)}, o}
		if !s.oneOf(s.replace, s.extend, s.insert, s.guard) {
			continue
		}
		_, err := r.Run(t.Context(), o.text(), "entry")
		var wrong *eval.ProgramError
		if err != nil && (!errors.As(err, &wrong) || strings.Contains(wrong.Reason, "ReferenceError") ||
			strings.Contains(wrong.Reason, "compile")) {
			t.Errorf("seed %d: %v:\n%s", i, err, o.text())
		}
	}
}

// What stands outside the markers stays as it is, to the byte.
func TestStructureKeepsToMarkers(t *testing.T) {
	const head, tail = "// keep  this\nconst a=1\n// EVOLVE-BLOCK-START\n", "  // EVOLVE-BLOCK-END\nf( a ) // and this"
	changed := 0
	for i := range 50 {
		got, ok := Structure(head+"function f(x) { return x; }\n"+tail, Bias{}, seeded(i))
		if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
			t.Fatalf("seed %d changes what is not between the markers:\n%s", i, got)
		}
		if ok {
			changed++
		}
	}
	if changed < 40 {
		t.Errorf("only %d of 50 edits were made", changed)
	}
	for _, c := range []struct{ program, reason string }{
		{"// EVOLVE-BLOCK-START\nif (x) {\n// EVOLVE-BLOCK-END\n}", "what stands inside is no program"},
		{"f(", "no JavaScript"},
		{"", "nothing"},
		{"'use strict'", "nothing to change"},
	} {
		if got, ok := Structure(c.program, Bias{}, seeded(1)); ok || got != c.program {
			t.Errorf("%q became %q: %s", c.program, got, c.reason)
		}
	}
}

// What a large program costs is bounded: it is read up to 40 times for a reply.
func TestLargePrograms(t *testing.T) {
	if _, ok := outlineOf("x=[" + strings.Repeat("1,", mostCode/2) + "]"); ok {
		t.Errorf("a program of more than %d bytes is read", mostCode)
	}
	var b strings.Builder
	for i := range mostNames + 500 {
		fmt.Fprintf(&b, "let a%d=0;", i)
	}
	o, ok := outlineOf(b.String())
	if !ok {
		t.Fatal("declarations cannot be read")
	}
	for _, s := range o.suites {
		for i, names := range s.names {
			if len(names) > mostNames {
				t.Fatalf("%d variables are known before statement %d, want at most %d", len(names), i, mostNames)
			}
		}
	}
}

func FuzzStructure(f *testing.F) {
	for _, p := range []string{rule, "x = a ? b : c", "export const f = async (x, ...y) => await x[0]?.z",
		"switch (x) { case 1: return 2; default: y() }",
		"try { throw 1 } catch { f() } finally { g() }", "// EVOLVE-BLOCK-START\nx = 1\n// EVOLVE-BLOCK-END"} {
		f.Add(p, 1)
	}
	f.Fuzz(func(t *testing.T, program string, seed int) {
		if len(program) > 1<<12 {
			return
		}
		got, ok := Structure(program, Bias{}, seeded(seed))
		if !ok && got != program {
			t.Fatalf("%q became %q, which is not said", program, got)
		}
		_, read := outlineOf(program) // what stands around markers need not be JavaScript
		if _, reads := outlineOf(got); ok && read && !reads {
			t.Fatalf("%q became %q, which is no JavaScript", program, got)
		}
	})
}

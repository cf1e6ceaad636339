package hints_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

// count returns how many findings of a kind there are.
func count(hints []task.Hint, kind string) (n int) {
	for _, h := range hints {
		if h.Kind == kind {
			n++
		}
	}
	return n
}

// Whatever a Go program says, it is read, and nothing of it is run, embedded or fetched.
func TestHostileGo(t *testing.T) {
	g := newGo(t)
	left := filepath.Join(t.TempDir(), "left")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("swordfish"), 0o600); err != nil {
		t.Fatal(err)
	}
	loop := "\nvar sink *int\nfunc F(xs []int) { for _, x := range xs { sink = new(int); *sink = x } }\n"
	// The normal run has one program of each kind: directives, an embedded file, an import that does not exist, a huge
	// constant, deep nesting, and text that is not Go.
	for _, tt := range notrun.Few([]struct {
		why, program string
		fails        bool // to be read at all
		heap         int  // what the compiler is asked for: 1 if it compiles
	}{
		{"as it should be", "package p" + loop, false, 1},
		{"a directive that would run a command, if it were obeyed", "package p\n//go:generate touch " + left + loop, false,
			1},
		{"an embedded file of somebody else's", "package p\nimport _ \"embed\"\n//go:embed " + secret + "\nvar s string" +
			loop, false, 0},
		{"C code", "package p\n/*\n#include \"" + secret + "\"\n*/\nimport \"C\"" + loop, false, 0},
		{"C flags without an import", "package p\n//#cgo CFLAGS: -fplugin=/tmp/x.so" + loop, false, 1},
		{"a file of another name", "package p\n//line /etc/passwd:1" + loop, false, 0},
		{"a name of another package's function", "package p\nimport _ \"unsafe\"\n//go:linkname F runtime.F" + loop, false,
			1},
		{"a package that nobody has", "package p\nimport _ \"example.com/evil\"" + loop, false, 0},
		{"a relative import", "package p\nimport _ \"../../secret\"" + loop, false, 0},
		{"an absolute import", "package p\nimport _ \"/etc\"" + loop, false, 0},
		{"a build constraint", "//go:build ignore\n\npackage p" + loop, false, 1},
		{"carriage returns in comments", "package p /* a\r\nb\r */ // c\r\r\n" + loop, false, 1},
		{"a message like the compiler's", "package p\nconst s = \"\\nprogram.go:4:1: moved to heap: x\"" + loop, false, 1},
		{"a string of 2^50 bytes", "package p\nconst a = \"" + strings.Repeat("x", 1024) + "\"\nconst b = " +
			doubled("a", 40) + loop, false, 0},
		{"an array as large as memory", "package p\nvar x [1 << 40]int" + loop, false, 0},
		{"types in a circle", "package p\ntype T [2]T" + loop, false, 0},
		{"nesting", "package p\nvar x = " + strings.Repeat("(", 30000) + "1" + strings.Repeat(")", 30000) + loop, false, 1},
		{"nested types", "package p\nvar x " + strings.Repeat("[]", 30000) + "int" + loop, false, 0},
		{"nested functions", "package p\nfunc f() { " + strings.Repeat("func() { for {", 2000) +
			strings.Repeat("}}()", 2000) + "}" + loop, false, 0},
		{"too long", "package p\n" + strings.Repeat("// long\n", 10000), true, 0},
		{"no Go", "SELECT 1", true, 0},
		{"nothing", "", true, 0},
		{"NUL", "package p\x00", true, 0},
	}, 0, 1, 2, 5, 7, 13, 16, 20, 22) {
		hints, err := g.Hints(tt.program)
		if (err != nil) != tt.fails {
			t.Errorf("%s: %v", tt.why, err)
		}
		if n := count(hints, "heap"); n != tt.heap {
			t.Errorf("%s: %v, want %d on the heap", tt.why, hints, tt.heap)
		}
		for _, h := range hints {
			if strings.Contains(h.Text, "swordfish") || strings.Contains(h.Text, "/tmp") || strings.Contains(h.Text, "\n") {
				t.Errorf("%s: a hint says %q", tt.why, h.Text)
			}
		}
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("a command of a program was run")
	}
}

// doubled returns an expression that has name 2^n times, in n constants.
func doubled(name string, n int) string {
	var b strings.Builder
	b.WriteString(name + "+" + name + "\nconst c0 = b+b\n")
	for i := range n {
		b.WriteString("const c" + string(rune('a'+i/10)) + string(rune('a'+i%10)) + " = ")
		if i == 0 {
			b.WriteString("c0+c0\n")
			continue
		}
		last := "c" + string(rune('a'+(i-1)/10)) + string(rune('a'+(i-1)%10))
		b.WriteString(last + "+" + last + "\n")
	}
	return b.String()
}

// Whatever a Python program says, it is parsed and not run.
func TestHostilePython(t *testing.T) {
	p := newPython(t)
	left := filepath.Join(t.TempDir(), "left")
	loop := "\ndef f(n):\n    q = []\n    while q:\n        q.pop(0)\n"
	for _, tt := range []struct {
		why, program string
		fails        bool
		found        int
	}{
		{"as it should be", loop, false, 1},
		{"code at the top", "open('" + left + "', 'w').close()\nimport os\nos._exit(0)" + loop, false, 1},
		{"decorators and defaults", "@exit\ndef g(x=open('" + left + "', 'w')): pass" + loop, false, 1},
		{"an end of the string that it is passed in", "\"\"\"\\\"\n'''" + loop, true, 0},
		{"names of the reader", "PROGRAM = SIZES = hints = Reader = ast = None" + loop, false, 1},
		{"an encoding", "# -*- coding: rot13 -*-" + loop, false, 1},
		{"nesting", "x = " + strings.Repeat("(", 30000) + strings.Repeat(")", 30000) + loop, true, 0},
		{"a sum that is deep as a tree", "x = 1" + strings.Repeat("+1", 30000) + loop, true, 0},
		{"too long", strings.Repeat("# long\n", 10000), true, 0},
		{"a large number", "x = 10 ** 10 ** 10" + loop, false, 1},
		{"no Python", "def f(:", true, 0},
		{"NUL", "x = 1\x00", true, 0},
		{"nothing", "", false, 0},
	} {
		hints, err := p.Hints(tt.program)
		if (err != nil) != tt.fails {
			t.Errorf("%s: %v", tt.why, err)
		}
		if n := count(hints, "list shift"); n != tt.found {
			t.Errorf("%s: %v, want %d", tt.why, hints, tt.found)
		}
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("a program was run")
	}
}

// Two readers, each with folders and processes of its own, say the same: prompts are made again when a run goes on.
func TestHintsAreTheSameEachTime(t *testing.T) {
	const goes, loops = "package p\nfunc F(n int) (all []*int) {\n\tfor range n {\n\t\tall = append(all, new(int))\n\t}\n\treturn all\n}\n",
		"for a in b:\n    for c in a:\n        for d in c:\n            d.pop(0)\n"
	for _, tt := range []struct {
		program string
		new     func(testing.TB) task.Hints
		want    int
	}{
		{goes, func(t testing.TB) task.Hints { return newGo(t) }, 1},
		{loops, func(t testing.TB) task.Hints { return newPython(t) }, 2},
	} {
		a, errA := tt.new(t).Hints(tt.program)
		b, errB := tt.new(t).Hints(tt.program)
		if errA != nil || errB != nil || len(a) != tt.want || !reflect.DeepEqual(a, b) {
			t.Errorf("%v, %v and then %v, %v, want %d", a, errA, b, errB, tt.want)
		}
	}
}

// What Python's syntax shows, and what is like it and is nothing.
func TestPythonKinds(t *testing.T) {
	p := newPython(t)
	for _, tt := range []struct{ program, want string }{
		{"for i in range(len(x)):\n    y += x[i]", "python loop"},
		{"for i in range(x.shape[0]):\n    y += x[i]", "python loop"},
		{"for i in range(len(x)):\n    y += z[i]", ""},
		{"g = np.vectorize(f)", "python loop"},
		{"while a:\n    x = np.append(x, 1)", "copy in loop"},
		{"x = np.append(x, 1)", ""},
		{"while a:\n    def f():\n        return np.append(x, 1)", ""},
		{"while a:\n    q.insert(0, a)", "list shift"},
		{"while a:\n    q.pop()", ""},
		{"while a:\n    while b:\n        while c: pass", "nested loops"},
	} {
		found, err := p.Hints(tt.program)
		var kinds []string
		for _, h := range found {
			kinds = append(kinds, h.Kind)
		}
		if got := strings.Join(kinds, ", "); err != nil || got != tt.want {
			t.Errorf("%q: %q, %v, want %q", tt.program, got, err, tt.want)
		}
	}
}

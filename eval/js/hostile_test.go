package js_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
)

// patience is how long a test waits for what should take milliseconds: machines may be loaded.
const patience = 30 * time.Second

func newRunner(t testing.TB, cfg js.Config) *js.Runner {
	t.Helper()
	r, err := js.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reason runs a program that must be at fault and says why it is.
func reason(t testing.TB, r *js.Runner, program string) string {
	t.Helper()
	out, err := r.Run(context.Background(), program, "entry")
	var wrong *eval.ProgramError
	if !errors.As(err, &wrong) {
		t.Fatalf("got %.200s, error %v; want a *eval.ProgramError", out, err)
	}
	return wrong.Reason
}

// in returns a program whose entry is body.
func in(body string) string { return "function entry() {" + body + "}" }

// endless are programs that would run for minutes, if not for ever.
var endless = []struct{ why, program string }{
	{"loop at load", `while (true) {} function entry() {}`},
	{"loop in the entry", in(`for (;;) {}`)},
	{"an empty loop over numbers", in(`for (let i = 0; i < 1e15; i++);`)},
	{"swallowing every exception", in(`while (true) { try { while (true) {} } catch {} finally { continue } }`)},
	{"recursion that swallows every exception", in(`(function f() { try { f() } catch { f() } })()`)},
	{"regular expression that backtracks", in(`/(a+)+$/.test('a'.repeat(64) + 'b')`)},
	{"jobs that add jobs", in(`return (async () => { while (true) await 1 })()`)},
	{"asynchronous generator", in(`return (async () => { for await (const x of (async function* () { for (;;) yield 1 })()); })()`)},
	{"promise jobs of the script", `(function f() { Promise.resolve().then(f) })(); function entry() {}`},
	{"getter in the result", in(`return { get x() { for (;;); } }`)},
	{"proxy as the result", in(`return new Proxy({}, { ownKeys() { for (;;); } })`)},
	{"length of a proxied array", in(`return new Proxy([], { get() { for (;;); } })`)},
	{"then of the result", in(`return (async () => ({ get then() { for (;;); } }))()`)},
	{"message of what is thrown",
		in(`const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e`)},
	{"stack of what is thrown", in(`const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { for (;;); } }); throw e`)},
	{"toPrimitive", in(`return +{ [Symbol.toPrimitive]() { for (;;); } }`)},
	{"what is printed", in(`console.log({ toString() { for (;;); } })`)},

	// Built-in functions that never ask the engine whether they should stop, or hardly ever.
	{"indexOf in a long array-like", in(`return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`)},
	{"includes in a sparse array", in(`return new Array(2 ** 32 - 1).includes(1)`)},
	{"join of a sparse array", in(`return new Array(2 ** 32 - 1).join().length`)},
	{"forEach over a sparse array", in(`new Array(2 ** 32 - 1).forEach(() => 0)`)},
	{"reverse of a long array-like", in(`[].reverse.call({ length: 2 ** 53 - 1 })`)},
	{"copyWithin of a long array-like", in(`[].copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)`)},
	{"concat of a long array-like", in(`return [].concat({ length: 2 ** 53 - 2, [Symbol.isConcatSpreadable]: true })`)},
	{"flat of a shared nest", in(`let a = []; for (let i = 0; i < 60; i++) a = [a, a]; return a.flat(Infinity)`)},
	{"sort of a sparse array", in(`new Array(2 ** 32 - 1).sort()`)},
	{"search in a long string", in(`return 'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b')`)},
	{"split of a long string", in(`return 'a'.repeat(1e7).split('a'.repeat(5e6) + 'b').length`)},
	{"normalization", in(`return ('a' + '\u0300\u0316'.repeat(1e6)).normalize('NFD').length`)},
	{"digits of long integers", in(`const x = 3n ** 600000n; for (;;) x.toString()`)},
	{"a few long calls at a time", in(`const a = new Array(1e6).fill(0); for (;;) a.indexOf(1)`)},
	{"large strings over and over", in(`for (;;) 'x'.repeat(1e7)`)},
	{"keys of a large object", in(`const o = {}; for (let i = 0; i < 1e5; i++) o['k' + i] = i; for (;;) Object.keys(o)`)},
	{"sorting large arrays", in(`const a = new Float64Array(1e6); for (;;) a.map(Math.random).sort()`)},
	{"compiling regular expressions", in(`for (;;) new RegExp('[' + 'a-z'.repeat(1e5) + ']')`)},
	{"collecting garbage", in(`const a = []; for (let i = 0; i < 1e5; i++) a.push({ a }); for (;;) { const b = {}; b.b = b }`)},
}

// variables returns a list of n short names.
func variables(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('_')
		for j := i; ; j /= len(letters) {
			b.WriteByte(letters[j%len(letters)])
			if j < len(letters) {
				break
			}
		}
	}
	return b.String()
}

func TestEndless(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: 40 * time.Millisecond})
	for _, c := range endless {
		t.Run(c.why, func(t *testing.T) {
			if got, want := reason(t, r, c.program), "ran longer than 40ms"; got != want {
				t.Errorf("reason %q, want %q", got, want)
			}
		})
	}
}

// TestGreedy has programs that ask for too much of something else than time.
func TestGreedy(t *testing.T) {
	const memory = "used more than 4 MiB of memory"
	const depth = "calls nest too deeply"
	r := newRunner(t, js.Bounded(js.Config{Timeout: patience, MemoryLimit: 4 << 20}, 1000, 64<<10, 0))
	for _, c := range []struct{ why, program, want string }{
		{"array that grows", in(`const a = []; for (;;) a.push(1)`), memory},
		{"array of arrays", in(`const a = []; for (;;) a.push(a.slice())`), memory},
		{"typed arrays", in(`const a = []; for (;;) a.push(new Float64Array(1e6))`), memory},
		{"one typed array", in(`new Float64Array(1e6)`), memory},
		{"shared memory", in(`const a = []; for (;;) a.push(new SharedArrayBuffer(1e5))`), memory},
		{"buffer that grows", in(`new ArrayBuffer(8, { maxByteLength: 2 ** 24 }).resize(2 ** 24)`), memory},
		{"padding", in(`'x'.padEnd(1e9)`), memory},
		{"fill of a long array", in(`new Array(1e9).fill(0)`), memory},
		{"string that doubles", in(`let s = 'x'; for (;;) s += s`), "threw InternalError: string too long"},
		{"map", in(`const m = new Map(); for (let i = 0; ; i++) m.set(i, i)`), memory},
		{"properties", in(`const o = {}; for (let i = 0; ; i++) o['k' + i] = i`), memory},
		{"closures", in(`let f = () => 0; for (;;) { const g = f; f = () => g() }`), memory},
		{"promises", in(`let p = Promise.resolve(); for (;;) p = p.then(() => 0)`), memory},
		{"a long integer", in(`return 2n ** 2000000n`), "threw RangeError: BigInt is too large"},
		{"arguments", in(`return Math.max(...new Array(3e5).fill(1))`), memory},
		{"memory asked for again and again",
			in(`const a = []; for (let i = 0; i < 100; i++) { try { for (;;) a.push(new Float64Array(1e4)) } catch {} } new Float64Array(1e6)`), memory},

		{"recursion", in(`(function f() { f() })()`), depth},
		{"recursion through sort", in(`(function f() { [2, 1].sort(f) })()`), depth},
		{"recursion through replace", in(`(function f() { 'a'.replace('a', f) })()`), depth},
		{"recursion through a getter", in(`({ get x() { return this.x } }).x`), depth},
		{"recursion through toString", in(`'' + { toString() { return '' + this } }`), depth},
		{"recursion of generators", in(`function* g() { yield* g() } [...g()]`), depth},
		{"recursion of bound functions", in(`let f = () => 1; for (let i = 0; i < 2e3; i++) f = f.bind(); f()`), depth},
		{"stack of proxies", in(`let p = {}; for (let i = 0; i < 2e3; i++) p = new Proxy(p, {}); p.x`), depth},
		{"stack of proxies as a class",
			in(`let p = class {}; for (let i = 0; i < 2e3; i++) p = new Proxy(p, {}); Reflect.construct(Object, [], new Proxy(p, { get() {} }))`), depth},
		{"nest to flatten", in(`let a = []; for (let i = 0; i < 2e3; i++) a = [a]; a.flat(Infinity)`), depth},
		{"nest to write", in(`let a = []; for (let i = 0; i < 2e3; i++) a = [a]; JSON.stringify(a)`), depth},
		{"nest to print", in(`let a = []; for (let i = 0; i < 2e3; i++) a = [a]; console.log(a)`), depth},
		{"deep calls with large frames", "function entry() { entry(" + strings.Repeat("1,", 5000) + "1) }", depth},
		{"deep calls with many variables", "function entry() { var " + variables(4000) + "; entry() }", depth},

		{"nest to read", in(`JSON.parse('['.repeat(1e4))`), "threw SyntaxError: stack overflow (line 1, column 4992)"},
		{"nest in a regular expression", in(`new RegExp('(?:'.repeat(1e4))`), "threw SyntaxError: stack overflow"},
		{"parentheses", in(strings.Repeat("(", 1e4)), "does not compile: SyntaxError: stack overflow (line 1, column 1684)"},
		{"classes in classes", strings.Repeat("class A{static{", 5e3),
			"does not compile: SyntaxError: stack overflow (line 1, column 5409)"},
		{"long program", strings.Repeat(" ", 256<<10+1), "is 262145 bytes long: at most 262144"},
		{"long result", in(`return 'x'.repeat(7e4)`), "returned more than 65536 bytes of JSON"},
		{"long array", in(`return new Array(12e3).fill(0.125)`), "returned more than 65536 bytes of JSON"},
		{"sparse array", in(`return new Array(2 ** 32 - 1)`), "returned an array of length 4.294967295e+09"},
		{"long array that is no array", in(`return new Proxy([], { get: (_, key) => key === 'length' ? 3e4 : 0.125 })`),
			"returned more than 65536 bytes of JSON"},
		{"waiting", in(`Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)`),
			"threw TypeError: cannot block in this thread"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := reason(t, r, c.program); !strings.HasPrefix(got, strings.SplitN(c.want, " (line", 2)[0]) {
				t.Errorf("reason %q, want %q", got, c.want)
			}
		})
	}
}

package js_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
)

// result runs a program that must end well.
func result(t testing.TB, r *js.Runner, program string) string {
	t.Helper()
	out, err := r.Run(context.Background(), program, "entry")
	if err != nil {
		t.Fatalf("%.300s: error %v", program, err)
	}
	if !json.Valid(out) {
		t.Fatalf("%.300s: returned %q, which is not JSON", program, out)
	}
	return string(out)
}

func TestResults(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct{ why, body, want string }{
		{"numbers", `return [1, -2, 0.1, 1e21, 1e-7, 2 ** 53, 4294967296, 5e-324, 1.7976931348623157e308, 1 / 3]`,
			`[1,-2,0.1,1e+21,1e-07,9.007199254740992e+15,4.294967296e+09,5e-324,1.7976931348623157e+308,0.3333333333333333]`},
		{"negative zero", `return -0`, `-0`},
		{"text", `return 'x\u{1F600}\u0000"\\\n<'`, `"x😀\u0000\"\\\n<"`},
		{"half a character", `return '\uD83D'`, `"\ud83d"`},
		{"odd names", `return { '': 1, '"': 2, 10: 3, 'é': 4, __proto__: null }`, `{"10":3,"":1,"\"":2,"é":4}`},
		{"typed arrays", `return [new Float64Array([0.5, 1]), new Uint8Array(2), new Float32Array(0)]`, `[[0.5,1],[0,0],[]]`},
		{"member that is undefined", `return { a: undefined, b: 1 }`, `{"b":1}`},
		{"proxy", `return new Proxy([1, 2], {})`, `[1,2]`},
		{"toJSON is not called", `return { toJSON: undefined, x: new Date(), y: Object.create({ toJSON() { return 1 } }) }`,
			`{"x":{},"y":{}}`},
		{"sixty deep", `let a = 1; for (let i = 0; i < 60; i++) a = [a]; return a`,
			strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60)},
		{"the same twice is no cycle", `const a = [1]; return [a, a]`, `[[1],[1]]`},
		{"promise", `return Promise.resolve([1])`, `[1]`},
	} {
		if got := result(t, r, in(c.body)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.why, got, c.want)
		}
	}
}

func TestRefusedResults(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct{ why, body, want string }{
		{"nothing", ``, `returned undefined`},
		{"NaN", `return NaN`, `returned NaN, not a finite number,`},
		{"NaN within", `return { centers: [[0, 0], [1, 0 / 0]] }`,
			`returned NaN, not a finite number, at result["centers"][1][1]`},
		{"BigInt", `return [1n]`, `returned a BigInt at result[0]`},
		{"function", `return { f() {} }`, `returned a function at result["f"]`},
		{"hole", `return [1, , 2]`, `returned undefined at result[1]`},
		{"cycle", `const a = []; a.push(a); return a`, `returned data nested more than 64 deep, or a cycle`},
		{"getter that throws", `return { get x() { throw new Error('no') } }`, `threw Error: no`},
		{"proxy that throws", `return new Proxy({}, { ownKeys() { throw 'no' } })`, `threw "no"`},
		{"odd length", `return new Proxy([], { get: () => 'x' })`, `returned an array whose length is no number`},
		{"promise for ever", `return new Promise(() => {})`, `waits for a promise that nothing will settle`},
		{"promise of an error", `return Promise.reject(new RangeError('r'))`, `threw RangeError: r`},
	} {
		if got := reason(t, r, in(c.body)); got != c.want {
			t.Errorf("%s: reason %q, want %q", c.why, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct{ why, program, want string }{
		{"error", in(`throw new TypeError('oops')`), `threw TypeError: oops`},
		{"error without a message", in(`throw new Error()`), `threw Error`},
		{"name that does not exist", in(`x()`), `threw ReferenceError: 'x' is not defined`},
		{"null", in(`throw null`), `threw null`},
		{"string", in(`throw 'no "luck"'`), `threw "no \"luck\""`},
		{"error with getters that throw",
			in(`const e = new Error('m'); for (const k of ['name', 'message', 'stack', 'lineNumber']) Object.defineProperty(e, k, { get() { throw e } }); throw e`), `threw `},
		{"long message", in(`throw new Error('é'.repeat(1e5))`), `threw Error: ` + strings.Repeat("é", 500) + `…`},
		{"syntax", "let x = 1;\nfunction entry( {", `does not compile: SyntaxError: `},
		{"zero bytes", "function entry() { return 1 }\x00\x00", `does not compile: SyntaxError: `},
		{"invalid UTF-8", "function entry() { return '\xff\xfe' }", `does not compile: SyntaxError: `},
		{"import of a built-in module", `import * as std from 'std'; export function entry() {}`,
			`does not compile: ReferenceError: could not load module 'std'`},
		{"eval", in(`return eval('1')`), `threw TypeError: eval is not supported`},
		{"Function", in(`return new Function('return 1')()`), `threw TypeError: eval is not supported`},
	} {
		got := reason(t, r, c.program)
		if got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: reason %q, want %q", c.why, got, c.want)
		}
	}
}

func TestErrorArtifacts(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	artifacts := func(program string) map[string]string {
		_, err := r.Run(t.Context(), program, "entry")
		var wrong *eval.ProgramError
		if !errors.As(err, &wrong) {
			t.Fatalf("error %v, want the program's", err)
		}
		return wrong.Artifacts
	}
	got := artifacts("function f() {\n  throw new Error('m')\n}\n" +
		"function entry() { console.log('a', 1, [2, 3]); console.error(null); f() }")
	if want := "a 1 2,3\nnull\n"; got["console"] != want {
		t.Errorf("console %q, want %q", got["console"], want)
	}
	if s := got["stack"]; !strings.Contains(s, "at f (program.js:2") || !strings.Contains(s, "at entry (program.js:4") {
		t.Errorf("stack %q does not name the functions and lines", s)
	}
	got = artifacts(in(`for (let i = 0; i < 1000; i++) console.log('é'.repeat(100)); throw 1`))
	if n := len(got["console"]); n < 4000 || n > 4100 {
		t.Errorf("%d bytes printed, want the first 4096", n)
	}
	if got := artifacts(in(`throw 1`)); got != nil {
		t.Errorf("what one program printed came with the error of the next: %v", got)
	}
}

func TestEntries(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct{ why, program string }{
		{"function", `function entry() { return 7 }`},
		{"const arrow", `const entry = () => 7`},
		{"global", `globalThis.entry = () => 7`},
		{"async", `async function entry() { await 0; return 7 }`},
		{"module.exports itself", `module.exports = () => 7`},
		{"exports", `exports.entry = () => 7`},
		{"exported function", `export function entry() { return 7 }`},
		{"list of exports", `const f = () => 7; export { f as entry }`},
		{"default export", `export default function () { return 7 }`},
		{"default arrow", `export default () => 7`},
		{"module that awaits", `const x = await Promise.resolve(7); export const entry = () => x`},
		{"CRLF and a mark", "\ufefffunction entry() {\r\n  return 7\r\n}\r\n"},
	} {
		if got := result(t, r, c.program); got != "7" {
			t.Errorf("%s: got %s, want 7", c.why, got)
		}
	}
	if _, err := r.Run(context.Background(), `1`, "a b"); err == nil || errors.As(err, new(*eval.ProgramError)) {
		t.Errorf("an entry that is no name: error %v, want one that is not the program's", err)
	}
}

// TestNothingToReach checks that programs find the language and no more.
func TestNothingToReach(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	got := result(t, r, in(`return Object.getOwnPropertyNames(globalThis).filter(k => /^[a-z]/.test(k)).sort()`))
	want := `["console","decodeURI","decodeURIComponent","encodeURI","encodeURIComponent","entry","escape","eval","exports","globalThis","isFinite","isNaN","module","parseFloat","parseInt","performance","undefined","unescape"]`
	if got != want {
		t.Errorf("globals are %s, want %s", got, want)
	}
}

// tamper changes everything that a program can reach.
const tamper = `
  const deny = () => { throw new Error('tampered') };
  Math.random = () => 0.5; Date.now = deny; console.log = deny;
  JSON.stringify = () => '{"forged":1}';
  for (const o of [Object, Array, Function, String, Number, Promise, Error, Symbol, Map, Date, RegExp, Float64Array, Reflect, Math, JSON]) {
    for (const k of Reflect.ownKeys(o)) { try { o[k] = deny } catch {} }
    if (o.prototype) for (const k of Reflect.ownKeys(o.prototype)) { try { Object.defineProperty(o.prototype, k, { value: deny }) } catch {} }
  }
`

// TestHarnessIsOutOfReach has programs redefine what a harness in JavaScript would rest on.
func TestHarnessIsOutOfReach(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	const data = `return { points: [[0.5, 1], [2, 3]], s: 'x' }`
	const want = `{"points":[[0.5,1],[2,3]],"s":"x"}`
	for _, c := range []struct{ why, prefix string }{
		{"JSON", `JSON.stringify = () => '{"forged":1}'; JSON.parse = null; globalThis.JSON = null;`},
		{"toJSON", `Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => 'forged';`},
		{"valueOf and toString", `Object.prototype.valueOf = Object.prototype.toString = Array.prototype.toString = () => { for (;;); };`},
		{"iterators", `Array.prototype[Symbol.iterator] = () => { for (;;); };`},
		{"setters", `for (const k of ['0', '1', 'value', 'then', 'length', 'points']) Object.defineProperty(Object.prototype, k, { __proto__: null, set() { throw 1 }, get() { return undefined }, configurable: true });`},
		{"then", `Object.prototype.then = undefined; Promise.prototype.then = () => { throw 1 };`},
		{"globals", `for (const k of Object.getOwnPropertyNames(globalThis)) if (k !== 'entry') { try { delete globalThis[k] } catch {} }`},
		{"frozen", `Object.freeze(globalThis); Object.freeze(Object.prototype); Object.freeze(Array.prototype);`},
		{"exports", `module.exports = { get entry() { return () => 'forged' } };`},
	} {
		if got := result(t, r, c.prefix+in(data)); got != want {
			t.Errorf("%s: got %s, want %s", c.why, got, want)
		}
		if got := reason(t, r, c.prefix+in(`return [{ x: NaN }]`)); !strings.HasSuffix(got, ` at result[0]["x"]`) {
			t.Errorf("%s: reason %q", c.why, got)
		}
	}
}

// TestNothingIsLeftBehind runs a program after ones that changed all they could.
func TestNothingIsLeftBehind(t *testing.T) {
	const probe = `function entry() {
		const seen = new Set();
		(function walk(o) {
			if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o)) return;
			seen.add(o);
			for (const k of Reflect.ownKeys(o)) { const d = Reflect.getOwnPropertyDescriptor(o, k); walk(d.value); walk(d.get) }
			walk(Reflect.getPrototypeOf(o));
		})(globalThis);
		return [seen.size, [...seen].map(o => Reflect.ownKeys(o).map(String).join() + typeof o).join(), Math.random(), Date.now(), JSON.stringify([1])];
	}`
	want := result(t, newRunner(t, js.Config{Timeout: patience}), probe)
	r := newRunner(t, js.Config{Timeout: 2 * time.Second})
	for i, program := range []string{
		"globalThis.left = 1; var v = 1; let l = 1;" + in(`Object.prototype.left = 1; return 1`),
		tamper + in(`return 1`),
		in(`console.log('x'); const a = []; for (;;) a.push(1)`),
		in(`(function f() { f() })()`),
		in(`Promise.resolve().then(function again() { Promise.resolve().then(again) }); throw 1`),
		`import('x'); Promise.reject(1);` + in(`return new Promise(() => {})`),
		"syntax error",
		in(`Array.prototype.push.call(globalThis, 1); for (;;);`),
	} {
		_, _ = r.Run(t.Context(), program, "entry")
		if got := result(t, r, probe); got != want {
			t.Errorf("after program %d:\n%.2000s\nwant\n%.2000s", i, got, want)
		}
	}
}

func TestSameProgramSameResult(t *testing.T) {
	const program = `function entry() {
		const d = new Date(2020, 5, 15, 12);
		return [Math.random(), Math.random(), Date.now(), new Date().getTime(), performance.now(), new Date(0).getHours(), d.getTimezoneOffset(),
			d.toISOString(), String(d), Date.parse('2020-06-15T12:00:00'), Date(), new Date('2020-06-15T12:00:00+02:00').toISOString(), [3, 1, 2].sort().join(), new Date(2020, 0).getMonth()];
	}`
	first := result(t, newRunner(t, js.Config{Timeout: patience}), program)
	if want := `[0.4833481342839381,0.8691389606829487,9.466848e+11,9.466848e+11,0,0,0,` +
		`"2020-06-15T12:00:00.000Z","Mon, 15 Jun 2020 12:00:00 GMT",1.5922224e+12,"Sat, 01 Jan 2000 00:00:00 GMT",` +
		`"2020-06-15T10:00:00.000Z","1,2,3",0]`; first != want {
		t.Errorf("got %s, want %s", first, want)
	}
	r := newRunner(t, js.Config{Timeout: patience})
	for range 3 {
		if got := result(t, r, program); got != first {
			t.Errorf("got %s, then %s", first, got)
		}
	}
	if got := result(t, newRunner(t, js.Config{Timeout: patience, Seed: 1}), program); got == first {
		t.Error("another seed draws the same numbers")
	}
}

func TestContext(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct {
		why, program string
		after        time.Duration
	}{
		{"before", in(`return 1`), 0},
		{"in a loop", in(`for (;;);`), 20 * time.Millisecond},
		{"in a built-in function", in(`return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`), 20 * time.Millisecond},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), c.after)
		_, err := r.Run(ctx, c.program, "entry")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*eval.ProgramError)) {
			t.Errorf("%s: error %v, want ctx's and not the program's", c.why, err)
		}
	}
	if got := result(t, r, in(`return 1`)); got != "1" {
		t.Errorf("then another program returned %s", got)
	}
}

func TestConcurrentRuns(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 8 {
				program := fmt.Sprintf(`globalThis.x = (globalThis.x ?? 0) + %d;`, g*100+i) +
					in(`const a = []; for (let i = 0; i < 1000; i++) a.push({ i }); return [x, a.length]`)
				if got, want := result(t, r, program), fmt.Sprintf("[%d,1000]", g*100+i); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  js.Config
		want string
	}{
		{js.Config{Timeout: -1}, "Timeout is -1ns"},
		{js.Config{MemoryLimit: 1 << 20}, "MemoryLimit is 1048576"},
		{js.Config{MemoryLimit: 1 << 30}, "MemoryLimit is 1073741824"},
		{js.Config{MemoryLimit: -1}, "MemoryLimit is -1"},
	} {
		if _, err := js.New(c.cfg); err == nil || !strings.HasPrefix(err.Error(), "js: "+c.want) {
			t.Errorf("New(%+v): error %v, want it to name %q", c.cfg, err, c.want)
		}
	}
	if got, want := newRunner(t, js.Config{}).String(), "js(5s, 64 MiB)"; got != want {
		t.Errorf("a runner is %s, want %s", got, want)
	}
}

// FuzzRun checks that no program panics, runs on, or fails otherwise than as a program.
func FuzzRun(f *testing.F) {
	for _, c := range endless {
		f.Add(c.program)
	}
	f.Add(tamper + in(`return 1`))
	f.Add(`export default () => new Proxy([], {})`)
	f.Add(`function entry() { return [NaN, 1n, Symbol(), {}, [[]]] }`)
	r := newRunner(f, js.Config{Timeout: 50 * time.Millisecond, MemoryLimit: 8 << 20})
	f.Fuzz(func(t *testing.T, program string) {
		out, err := r.Run(context.Background(), program, "entry")
		if err != nil && !errors.As(err, new(*eval.ProgramError)) {
			t.Fatalf("%q: error %v, want a *eval.ProgramError", program, err)
		}
		if err == nil && !json.Valid(out) {
			t.Fatalf("%q: returned %q, which is not JSON", program, out)
		}
	})
}

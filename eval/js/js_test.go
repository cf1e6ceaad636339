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
		{"other values", `return [true, false, null, 'a']`, `[true,false,null,"a"]`},
		{"text", `return 'x\u{1F600}\u0000"\\\n<'`, `"x😀\u0000\"\\\n\u003c"`},
		{"half a character", `return '\uD83D'`, `"` + "\uFFFD" + `"`},
		{"string from parts", `let s = ''; for (let i = 0; i < 5; i++) s += i; return s + s`, `"0123401234"`},
		{"empty ones", `return [[], {}, '']`, `[[],{},""]`},
		{"object", `return { centers: [[0, 1]], radii: [2] }`, `{"centers":[[0,1]],"radii":[2]}`},
		{"odd names", `return { '': 1, '"': 2, 10: 3, 'é': 4, __proto__: null }`, `{"10":3,"":1,"\"":2,"é":4}`},
		{"typed arrays", `return [new Float64Array([0.5, 1]), new Uint8Array(2), new Float32Array(0)]`, `[[0.5,1],[0,0],[]]`},
		{"instance of a class", `class P { #z = 1; constructor() { this.x = 1 } get y() { return 2 } } return new P()`,
			`{"x":1}`},
		{"member that is undefined", `return { a: undefined, b: 1 }`, `{"b":1}`},
		{"getter", `return { get x() { return 3 } }`, `{"x":3}`},
		{"proxy", `return new Proxy([1, 2], {})`, `[1,2]`},
		{"symbols and hidden members",
			`const o = { [Symbol('s')]: 1, a: 1 }; Object.defineProperty(o, 'h', { value: 1 }); return o`, `{"a":1}`},
		{"toJSON is not called", `return { toJSON: undefined, x: new Date(), y: Object.create({ toJSON() { return 1 } }) }`,
			`{"x":{},"y":{}}`},
		{"boxed values are objects", `return [new Number(1)]`, `[{}]`},
		{"sixty deep", `let a = 1; for (let i = 0; i < 60; i++) a = [a]; return a`,
			strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60)},
		{"the same twice is no cycle", `const a = [1]; return [a, a]`, `[[1],[1]]`},
		{"promise", `return Promise.resolve([1])`, `[1]`},
		{"promise of jobs", `return new Promise(r => Promise.resolve().then(() => r(2)))`, `2`},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := result(t, r, in(c.body)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRefusedResults(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct{ why, body, want string }{
		{"nothing", ``, `returned undefined`},
		{"NaN", `return NaN`, `returned NaN, not a finite number,`},
		{"NaN within", `return { centers: [[0, 0], [1, 0 / 0]] }`,
			`returned NaN, not a finite number, at result["centers"][1][1]`},
		{"infinity", `return [1 / 0]`, `returned +Inf, not a finite number, at result[0]`},
		{"minus infinity in a typed array", `return new Float64Array([0, -1 / 0])`,
			`returned -Inf, not a finite number, at result[1]`},
		{"BigInt", `return [1n]`, `returned a BigInt at result[0]`},
		{"long BigInt", `return [2n ** 100n]`, `returned a BigInt at result[0]`},
		{"symbol", `return Symbol('x')`, `returned a symbol`},
		{"function", `return { f() {} }`, `returned a function at result["f"]`},
		{"class", `return class {}`, `returned a function`},
		{"hole", `return [1, , 2]`, `returned undefined at result[1]`},
		{"cycle", `const a = []; a.push(a); return a`, `returned data nested more than 64 deep, or a cycle`},
		{"getter that throws", `return { get x() { throw new Error('no') } }`, `threw Error: no`},
		{"proxy that throws", `return new Proxy({}, { ownKeys() { throw 'no' } })`, `threw "no"`},
		{"revoked proxy", `const p = Proxy.revocable([], {}); p.revoke(); return p.proxy`, `threw TypeError: revoked proxy`},
		{"odd length", `return new Proxy([], { get: () => 'x' })`, `returned an array whose length is no number`},
		{"negative length", `return new Proxy([], { get: () => -1 })`, `returned an array of length -1`},
		{"promise for ever", `return new Promise(() => {})`, `waits for a promise that nothing will settle`},
		{"promise of an error", `return Promise.reject(new RangeError('r'))`, `threw RangeError: r`},
		{"promise of a promise of nothing", `return (async () => Promise.resolve())()`, `returned undefined`},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := reason(t, r, in(c.body)); got != c.want {
				t.Errorf("reason %q, want %q", got, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct{ why, program, want string }{
		{"error", in(`throw new TypeError('oops')`), `threw TypeError: oops`},
		{"error at load", `throw new TypeError('oops')`, `threw TypeError: oops`},
		{"error without a message", in(`throw new Error()`), `threw Error`},
		{"own error", in(`class Mine extends Error { name = 'Mine' } throw new Mine('m')`), `threw Mine: m`},
		{"name that does not exist", in(`x()`), `threw ReferenceError: 'x' is not defined`},
		{"null", in(`throw null`), `threw null`},
		{"undefined", in(`throw undefined`), `threw undefined`},
		{"string", in(`throw 'no "luck"'`), `threw "no \"luck\""`},
		{"number", in(`throw 0.5`), `threw 0.5`},
		{"symbol", in(`throw Symbol('s')`), `threw a symbol`},
		{"object", in(`throw { message: 'm' }`), `threw an object that is not an Error`},
		{"object that looks like an error", in(`throw { __proto__: Error.prototype, message: 'm' }`),
			`threw an object that is not an Error`},
		{"object with a hostile toString", in(`throw { toString() { for (;;); }, get message() { for (;;); } }`),
			`threw an object that is not an Error`},
		{"revoked proxy", in(`const p = Proxy.revocable({}, {}); p.revoke(); throw p.proxy`),
			`threw an object that is not an Error`},
		{"error with members that are no strings", in(`const e = new Error('m'); e.name = {}; e.message = 1; throw e`),
			`threw `},
		{"error with getters that throw",
			in(`const e = new Error('m'); for (const k of ['name', 'message', 'stack', 'lineNumber']) Object.defineProperty(e, k, { get() { throw e } }); throw e`), `threw `},
		{"long message", in(`throw new Error('é'.repeat(1e5))`), `threw Error: ` + strings.Repeat("é", 250) + `…`},
		{"syntax", "let x = 1;\nfunction entry( {", `does not compile: SyntaxError: `},
		{"not JavaScript", "def entry():\n    return 1", `does not compile: SyntaxError: `},
		{"no text", ``, `defines no function entry`},
		{"another name", `function other() {}`, `defines no function entry`},
		{"no function", `const entry = 1`, `defines no function entry`},
		{"not yet defined", `throw 1; const entry = () => 1`, `threw 1`},
		{"zero bytes", "function entry() { return 1 }\x00\x00", `does not compile: SyntaxError: `},
		{"invalid UTF-8", "function entry() { return '\xff\xfe' }", `does not compile: SyntaxError: `},
		{"await for ever at the top", "await new Promise(() => {}); export function entry() {}",
			`waits for a promise that nothing will settle`},
		{"module that throws", `export function entry() {} throw new Error('m')`, `threw Error: m`},
		{"import of a built-in module", `import * as std from 'std'; export function entry() {}`,
			`does not compile: ReferenceError: could not load module 'std'`},
		{"import of a file", `import x from './js_test.go'; export function entry() {}`,
			`does not compile: ReferenceError: could not load module 'js_test.go'`},
		{"dynamic import", in(`return import('os')`), `threw ReferenceError: could not load module 'os'`},
		{"eval", in(`return eval('1')`), `threw TypeError: eval is not supported`},
		{"indirect eval", in(`return (0, eval)('1')`), `threw TypeError: eval is not supported`},
		{"Function", in(`return new Function('return 1')()`), `threw TypeError: eval is not supported`},
		{"constructor of generators", in(`return (function* () {}).constructor('yield 1')`),
			`threw TypeError: eval is not supported`},
	} {
		t.Run(c.why, func(t *testing.T) {
			got := reason(t, r, c.program)
			if got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
				t.Errorf("reason %q, want %q", got, c.want)
			}
		})
	}
}

func TestErrorArtifacts(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	_, err := r.Run(context.Background(),
		"function f() {\n  throw new Error('m')\n}\nfunction entry() { console.log('a', 1, [2, 3]); console.error(null); f() }", "entry")
	var wrong *eval.ProgramError
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	if got, want := wrong.Artifacts["console"], "a 1 2,3\nnull\n"; got != want {
		t.Errorf("console %q, want %q", got, want)
	}
	if got := wrong.Artifacts["stack"]; !strings.Contains(got, "at f (program.js:2") ||
		!strings.Contains(got, "at entry (program.js:4") {
		t.Errorf("stack %q does not name the functions and lines", got)
	}
}

func TestConsole(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	_, err := r.Run(context.Background(), in(`for (let i = 0; i < 1000; i++) console.log('é'.repeat(100)); throw 1`),
		"entry")
	var wrong *eval.ProgramError
	if !errors.As(err, &wrong) || len(wrong.Artifacts["console"]) < 4000 || len(wrong.Artifacts["console"]) > 4100 {
		t.Errorf("error %v with %d bytes printed, want the first 4096", err, len(wrong.Artifacts["console"]))
	}
	if got := result(t, r, in(`console.log('quiet'); console.log = 1; return 1`)); got != "1" {
		t.Errorf("a program that prints returned %s", got)
	}
	if _, err := r.Run(context.Background(), in(`throw 1`), "entry"); !errors.As(err, &wrong) ||
		wrong.Artifacts["console"] != "" {
		t.Errorf("what one program printed came with the error of the next: %v", wrong.Artifacts)
	}
}

func TestEntries(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	for _, c := range []struct{ why, program string }{
		{"function", `function entry() { return 7 }`},
		{"function expression", `var entry = function () { return 7 }`},
		{"const arrow", `const entry = () => 7`},
		{"let", `let entry; entry = () => 7`},
		{"global", `globalThis.entry = () => 7`},
		{"async", `async function entry() { await 0; return 7 }`},
		{"method of module.exports", `module.exports = { entry() { return 7 } }`},
		{"module.exports itself", `module.exports = () => 7`},
		{"exports", `exports.entry = () => 7`},
		{"both", `function entry() { return 7 } if (typeof module !== 'undefined') module.exports = { entry }`},
		{"exported function", `export function entry() { return 7 }`},
		{"exported const", `export const entry = () => 7`},
		{"list of exports", `const f = () => 7; export { f as entry }`},
		{"default export", `export default function () { return 7 }`},
		{"default export of the name", `function entry() { return 7 }; export default entry`},
		{"default arrow", `export default () => 7`},
		{"module that awaits", `const x = await Promise.resolve(7); export const entry = () => x`},
		{"strict script", `'use strict'; function entry() { return 7 }`},
		{"script about exports", `// export nothing` + "\n" + `function entry() { return 7 }`},
		{"the word this", `function entry() { return this === undefined || this === globalThis ? 7 : 0 }`},
		{"CRLF and a mark", "\ufefffunction entry() {\r\n  return 7\r\n}\r\n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := result(t, r, c.program); got != "7" {
				t.Errorf("got %s, want 7", got)
			}
		})
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
	got = result(t, r, in(`return ['std', 'os', 'bjson', 'process', 'require', 'fetch', 'print', 'scriptArgs', 'setTimeout', 'Deno', 'WebAssembly', 'Worker', 'gc'].filter(k => k in globalThis)`))
	if got != "[]" {
		t.Errorf("programs find %s", got)
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
		{"prototype of the global object", `Object.setPrototypeOf(globalThis, null);`},
		{"exports", `module.exports = { get entry() { return () => 'forged' } };`},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := result(t, r, c.prefix+in(data)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
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
	r := newRunner(t, js.Config{Timeout: patience})
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
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, _ = r.Run(ctx, program, "entry")
		cancel()
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
	want := `946684800000`
	if !strings.Contains(first, "9.466848e+11,9.466848e+11,0,0,0,"+
		`"2020-06-15T12:00:00.000Z","Mon, 15 Jun 2020 12:00:00 GMT",1.5922224e+12,"Sat, 01 Jan 2000 00:00:00 GMT","2020-06-15T10:00:00.000Z","1,2,3",0]`) {
		t.Errorf("the clock, from %s, gives %s", want, first)
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

func TestRandomIsUniform(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience, Seed: 7})
	var bins []int
	if err := json.Unmarshal([]byte(result(t, r,
		in(`const b = new Array(10).fill(0); for (let i = 0; i < 2e4; i++) b[Math.floor(Math.random() * 10)]++; return b`))),
		&bins); err != nil {
		t.Fatal(err)
	}
	for i, n := range bins {
		if n < 2000-5*42 || n > 2000+5*42 { // five standard deviations of a binomial count
			t.Errorf("bin %d has %d of 20000 draws", i, n)
		}
	}
}

func TestContext(t *testing.T) {
	r := newRunner(t, js.Config{Timeout: patience})
	notTheProgram := func(t *testing.T, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || errors.As(err, new(*eval.ProgramError)) {
			t.Errorf("error %v, want one that wraps %v and is not the program's", err, want)
		}
	}
	t.Run("canceled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := r.Run(ctx, in(`return 1`), "entry")
		notTheProgram(t, err, context.Canceled)
	})
	t.Run("deadline in a loop", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_, err := r.Run(ctx, in(`for (;;);`), "entry")
		notTheProgram(t, err, context.DeadlineExceeded)
	})
	t.Run("canceled in a built-in function", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
		_, err := r.Run(ctx, in(`return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`), "entry")
		notTheProgram(t, err, context.Canceled)
	})
	t.Run("the next program", func(t *testing.T) {
		if got := result(t, r, in(`return 1`)); got != "1" {
			t.Errorf("got %s", got)
		}
	})
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
	small := newRunner(t, js.Bounded(js.Config{Timeout: patience, MemoryLimit: 4 << 20}, 100, 10, 200))
	for _, c := range []struct{ why, program, want string }{
		{"memory", in(`new Float64Array(1e6)`), "used more than 4 MiB of memory"},
		{"depth", in(`(function f(n) { if (n) f(n - 1) })(100)`), "calls nest too deeply"},
		{"output", in(`return [1, 2, 3, 4, 5]`), "returned more than 10 bytes of JSON"},
		{"program", in(strings.Repeat(" ", 200)), "is 219 bytes long: at most 200"},
	} {
		if got := reason(t, small, c.program); got != c.want {
			t.Errorf("%s: reason %q, want %q", c.why, got, c.want)
		}
	}
	if got := result(t, small, in(`return (function f(n) { return n ? f(n - 1) : 1 })(50)`)); got != "1" {
		t.Errorf("within its limits a program returned %s", got)
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

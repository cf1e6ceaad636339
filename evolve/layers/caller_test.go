package layers_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/evolve/layers"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// A counting runner counts programs that ran.
type counting struct {
	eval.Runner
	n atomic.Int64
}

func (c *counting) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	c.n.Add(1)
	return c.Runner.Run(ctx, program, entry)
}

func newCaller(t testing.TB, r eval.Runner, language string, bases ...string) *layers.Caller {
	t.Helper()
	cfg := layers.CallerConfig{Runner: r, Language: language, Entry: "f", Calls: 5}
	for _, b := range bases {
		cfg.Bases = append(cfg.Bases, eval.Candidate{Program: b})
	}
	c, err := layers.NewCaller(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newJS returns a runner that is patient: on a busy machine a program that is right may take long.
func newJS(t testing.TB) eval.Runner { return newJSWithin(t, 30*time.Second) }

func newJSWithin(t testing.TB, timeout time.Duration) eval.Runner {
	t.Helper()
	r, err := js.New(js.Config{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcome returns what a program came to, in one line.
func outcome(t *testing.T, r eval.Runner, program string) string {
	t.Helper()
	out, err := r.Run(t.Context(), program, "main")
	var bad *eval.ProgramError
	switch {
	case errors.As(err, &bad):
		return "invalid: " + bad.Reason
	case err != nil:
		t.Errorf("the program causes the error %v, which would end a run:\n%s", err, program)
	}
	return string(out)
}

// basesJS are what JavaScript combinations call: one that counts its calls and has a secret, one that uses what a
// program can replace, one that fails, one that never ends.
var basesJS = []string{
	"let calls = 0; const SECRET = 4711; function f(x) { calls++; return { x, calls, secretIsKept: SECRET === 4711 } }",
	"export function f(...xs) { return Math.max(...[...xs].map((x) => 2 * x)) }",
	"function f() { throw new Error('SECRET 4712') }",
	"function f() { for (;;); }",
	"module.exports = { f: (o) => { o.x.push(1); globalThis.left = 1; Math.max = () => 0; return o } }",
}

func TestCombinationsInJavaScript(t *testing.T) {
	c := newCaller(t, newJS(t), "javascript", basesJS...)
	for _, tt := range []struct{ why, program, want string }{
		{"no call", `function main() { return 7 }`, `7`},
		{"nothing returned", `function main() { }`, `null`},
		{"a call", `function main() { return base(1, 3, 4) }`, `8`},
		{"a sequence of calls", `function main() { return base(1, base(1, base(1, 1))) }`, `8`},
		{"a module", `export const main = () => base(1, 2) + 1`, `5`},
		{"CommonJS", `module.exports = { main: () => base(1, 2) + 2 }`, `6`},
		{"a router", `const main = () => [1, 5, 2].map((x) => x > 3 ? base(1, x) : x)`, `[1,10,2]`},
		{"calls in a try", `function main() { let n = 0; for (const i of [1, 2]) { try { n += base(1, i) } catch {} } return n }`, `6`},
		{"a base that fails", `function main() { try { return base(2) } catch (e) { return e.message } }`, `"base 2 failed"`},
		{"an argument is a copy, and so is the answer", `function main() { const o = { x: [] }; const p = base(4, o); p.x.push(2); return [o.x, p.x, base(4, o).x] }`, `[[],[1,2],[1]]`},
		{"throwing", `function main() { throw new Error('mine') }`, `invalid: threw Error: mine`},
		{"no function", `const x = 1`, `invalid: threw TypeError: not a function`},
	} {
		if got := outcome(t, c, tt.program); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

func TestCombinationsThatDoNotEnd(t *testing.T) {
	c := newCaller(t, newJSWithin(t, 2*time.Second), "javascript", basesJS...)
	for _, tt := range []struct{ why, program, want string }{
		{"a base that does not end", `function main() { try { return base(3) } catch (e) { return e.message } }`, `"base 3 failed"`},
		{"it calls the same for ever", `function main() { for (;;) base(1, 1) }`, `invalid: ran longer than 2s`},
		{"it loops", `function main() { for (;;); }`, `invalid: ran longer than 2s`},
	} {
		if got := outcome(t, c, tt.program); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// Programs that try to read a base, to change one, to have one keep something, to call without end or to forge.
func TestHostileCombinationsInJavaScript(t *testing.T) {
	c := newCaller(t, newJS(t), "javascript", basesJS...)
	for _, tt := range []struct{ why, program, want string }{
		{"it reads all it can reach", `function main() {
			const seen = new Set(), text = [];
			const look = (o) => {
				if (o === null || typeof o !== 'object' && typeof o !== 'function' || seen.has(o)) return;
				seen.add(o);
				if (typeof o === 'function') text.push(Function.prototype.toString.call(o));
				for (const k of Reflect.ownKeys(o)) { try { text.push(String(o[k])); look(o[k]) } catch {} }
			};
			base(0, 1); look(globalThis); look(base); look(evoalloc_layers);
			try { base(2) } catch (e) { text.push(e.stack, e.message) }
			return /471[12]|secret *=|throw new Error\('SEC/.test(text.join().replace(main.toString(), '')) }`, `false`},
		{"it changes what bases use", `Math.max = () => -1; Array.prototype.map = () => []; function main() { return base(1, 3) }`, `6`},
		{"it replaces the way to call", `function main() { base = () => 99; return base(1, 3) }`, `99`},
		{"a base counts its calls", `function main() { base(0, 1); base(0, 2); return base(0, 3).calls }`, `1`},
		{"what a base leaves in its globals", `function main() { base(4, { x: [] }); return typeof left + base(1, 3) }`, `"undefined6"`},
		{"it passes a function", `function main() { return base(0, () => { throw 1 }).x === null }`, `true`},
		{"it passes an object that acts", `function main() { return base(0, { toJSON() { return 5 } }).x }`, `5`},
		{"a cycle", `function main() { const a = []; a.push(a); return base(0, a) }`, `invalid: threw TypeError: circular reference`},
		{"it calls for ever", `function main() { for (let i = 0; ; i++) base(1, i) }`, `invalid: made more than 5 different calls of bases`},
		{"it asks for many at once", `function main() { for (let i = 0; i < 1000; i++) { try { base(1, i) } catch {} } }`, `invalid: made more than 5 different calls of bases`},
		{"it asks for what is no base", `function main() { return base(9, 1) }`, `invalid: called base 9: they are 0 to 4`},
		{"it asks for base -1", `function main() { return base(-1) }`, `invalid: called base -1: they are 0 to 4`},
		{"it asks for a base by name", `function main() { return base('__proto__') }`, `invalid: called base "__proto__": they are 0 to 4`},
		{"it forges calls", `function main() { evoalloc_layers.asked.push('nonsense') }`, `invalid: called a base with arguments that are not data`},
		{"it forges what was asked", `function main() { evoalloc_layers.asked.push('[1,3]') }`, `invalid: called a base with arguments that are not data`},
		{"it asks again for what is answered", `function main() { evoalloc_layers.asked.push('[1,[3]]') }`, `invalid: asked again for a call of a base that is answered`},
		{"it forges answers", `function main() { evoalloc_layers.answers['[1,[3]]'] = '42'; return base(1, 3) }`, `42`},
		{"it forges the answer of the driver", `globalThis.evoalloc_combine = 5; function main() { return 1 }`, `invalid: defines no function evoalloc_combine`},
		{"it returns what is not data", `function main() { return NaN }`, `invalid: returned NaN, not a finite number, at result["value"]`},
		{"it returns what is no list of calls", `function main() { evoalloc_layers.asked = { length: 1 } }`, `invalid: returned neither a value nor calls of bases`},
	} {
		if got := outcome(t, c, tt.program); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
	// After all of them a base is what it was, for this combination and for others at the same time.
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := outcome(t, c, `function main() { return base(0, 'after').calls + base(1, 20) }`); got != "41" {
				t.Errorf("afterwards a combination returns %s, want 41", got)
			}
		})
	}
	wg.Wait()
}

func TestCallsAreRememberedAcrossCombinations(t *testing.T) {
	r := &counting{Runner: newJS(t)}
	c := newCaller(t, r, "javascript", basesJS...)
	for i, want := range []int64{3, 2} { // twice the combination, and the base the first time
		before := r.n.Load()
		if got := outcome(t, c, `function main() { return base(1, 3) }`); got != "6" || r.n.Load()-before != want {
			t.Errorf("run %d returns %s with %d programs run, want 6 with %d", i, got, r.n.Load()-before, want)
		}
	}
}

func TestCallersTellPoolsApart(t *testing.T) {
	r := newJS(t)
	a, b := newCaller(t, r, "javascript", "x", "yz"), newCaller(t, r, "javascript", "xy", "z")
	if a.String() == b.String() || a.String() != newCaller(t, r, "javascript", "x", "yz").String() {
		t.Errorf("two pools print %v and %v", a, b)
	}
}

func TestWrongCallers(t *testing.T) {
	good := layers.CallerConfig{Runner: newJS(t), Language: "javascript", Entry: "f", Bases: []eval.Candidate{{}}}
	for _, c := range []struct {
		change func(*layers.CallerConfig)
		want   string
	}{
		{func(c *layers.CallerConfig) { c.Runner = nil }, "Runner is nil"},
		{func(c *layers.CallerConfig) { c.Language = "cobol" }, `"cobol": have javascript, python`},
		{func(c *layers.CallerConfig) { c.Bases = nil }, "no base"},
		{func(c *layers.CallerConfig) { c.Entry = "f(); steal" }, `"f(); steal"`},
		{func(c *layers.CallerConfig) { c.Calls = -1 }, "Calls is -1"},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := layers.NewCaller(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestCombinationsInPython(t *testing.T) {
	if pythonMissing != nil {
		notrun.Skip(t)
	}
	r, err := python.NewRunner(t.Context(), python.Config{Imports: []string{}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := newCaller(t, r, "python",
		"SECRET = 4711\ncalls = 0\ndef f(x):\n    global calls\n    calls += 1\n    return [calls, x]",
		"def f(*xs):\n    return max(2 * x for x in xs)",
		"def f():\n    raise ValueError('SECRET 4712')")
	for _, tt := range []struct{ why, program, want string }{
		{"a sequence of calls", "def main():\n    return base(1, base(1, 3), 4)", `12`},
		{"a base that fails", "def main():\n    try:\n        base(2)\n    except Exception as e:\n        return str(e)", `"base 2 failed"`},
		{"nothing returned", "def main():\n    pass", `null`},
		{"it catches all", "def main():\n    n = 0\n    for i in 1, 2:\n        try:\n            n += base(1, i)\n        except:\n            pass\n    return n", `6`},
		{"a base counts its calls", "def main():\n    base(0, 1)\n    return base(0, 2)", `[1,2]`},
		{"it changes what bases use", "import builtins\nbuiltins.max = lambda *x: -1\ndef main():\n    return base(1, 3)", `6`},
		{"it reads all objects", "import gc\ndef main():\n    base(0, 1)\n    s = repr([o for o in gc.get_objects() if isinstance(o, dict)])\n    return ('47' + '11' in s) or ('47' + '12' in s)", `false`},
		{"it calls for ever", "def main():\n    i = 0\n    while True:\n        i += 1\n        base(1, i)", `invalid: made more than 5 different calls of bases`},
		{"it asks for what is no base", "def main():\n    return base(True)", `invalid: called base true: they are 0 to 2`},
		{"it forges a call", "def main():\n    _evoalloc_asked.append(5)", `invalid: returned neither a value nor calls of bases`},
		{"it has no function", "x = 1", `invalid: TypeError: the program defines no function main (line 28)`},
	} {
		if got := strings.ReplaceAll(outcome(t, c, tt.program), ", ", ","); got != strings.ReplaceAll(tt.want, ", ", ",") {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

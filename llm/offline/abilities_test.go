package offline

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

func TestNewChecksAbilities(t *testing.T) {
	for _, tt := range []struct {
		c            Config
		want, reason string
	}{
		{Config{Structure: 1, Splice: 1, Heed: 1, Insights: true, Prose: 1, Few: 1, Long: 5}, "", "all at once"},
		{Config{Structure: 1.5}, "Structure is 1.5", "more than all"},
		{Config{Splice: -0.1}, "Splice is -0.1", "no chance"},
		{Config{Heed: math.NaN()}, "Heed is NaN", "no chance"},
		{Config{Prose: 2}, "Prose is 2", "more than all"},
		{Config{Few: -1}, "Few is -1", "not a count"},
		{Config{Long: -1}, "Long is -1", "longer prompts would be easier"},
		{Config{Long: math.Inf(1)}, "Long is +Inf", "no reply would be whole"},
	} {
		_, err := New(tt.c)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%+v): %v, want %q: %s", tt.c, err, tt.want, tt.reason)
		}
	}
}

func TestAbilitiesPrint(t *testing.T) {
	m := newModel(t, Config{Structure: 0.5, Splice: 1, Heed: 0.25, Insights: true, Prose: 0.75, Few: 4, Long: 2})
	if got, want := m.String(), "latency 0s, structure 0.5, splice 1, heed 0.25, prose 0.75, few 4, long 2, insights)"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want it to end in %s: a journal tells models apart by it", got, want)
	}
}

// ask returns a request that shows programs in JavaScript and then says something.
func ask(seed uint32, says string, programs ...string) llm.Request {
	var b strings.Builder
	for i, p := range programs {
		fmt.Fprintf(&b, "Program %d of %d, with score 0.5:\n\n%s\n\n", i+1, len(programs), task.Fence(p, "js"))
	}
	return llm.Request{Seed: seed, Messages: []llm.Message{{Role: llm.User, Content: b.String() + says + "\n"}}}
}

// replied returns the program of the reply to req.
func replied(t *testing.T, m *Model, req llm.Request) string {
	t.Helper()
	program, err := task.ParseProgram(generate(t, m, req).Text, "js")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// A cross of two programs holds something of both, or of one only if what was taken stood in both.
func TestSplice(t *testing.T) {
	const a = "function f(x) {\n    const p = x + 11;\n    return p * 12;\n}"
	const b = "function f(x) {\n    const q = x - 21;\n    return q / 22;\n}"
	ofA, ofB := regexp.MustCompile(`\bp2?\b|11|12`), regexp.MustCompile(`\bq2?\b|21|22`)
	m := newModel(t, Config{Broken: -1, Splice: 1})
	const n = 300
	both, misspelt := 0, 0
	for seed := range uint32(n) {
		got := replied(t, m, ask(seed, "Combine the programs.", a, b))
		if ofA.MatchString(got) && ofB.MatchString(got) {
			both++
		}
		if regexp.MustCompile(`\b[pqx]2\b`).MatchString(got) {
			misspelt++
		}
	}
	if both < n*2/3 {
		t.Errorf("%d of %d crosses hold something of both programs", both, n)
	}
	if misspelt == 0 || misspelt > n/4 {
		t.Errorf("%d of %d crosses misspell a name", misspelt, n)
	}
	for _, c := range []struct {
		m      *Model
		says   string
		shows  []string
		reason string
	}{
		{m, "Improve the program.", []string{a, b}, "no cross is asked for"},
		{m, "Combine the programs.", []string{a}, "there is one program"},
		{newModel(t, Config{Broken: -1, Heed: 1}), "Combine the programs.", []string{a, b}, "the ability is off"},
	} {
		for seed := range uint32(100) {
			if got := replied(t, c.m, ask(seed, c.says, c.shows...)); strings.Contains(got, "p") && strings.Contains(got, "q") {
				t.Fatalf("spliced although %s:\n%s", c.reason, got)
			}
		}
	}
}

func TestSpliceLines(t *testing.T) {
	const a, b = "def f(x):\n    y = 1\n    return y", "def f(x):\n    z = 2\n    return z"
	python := lex.Likely("python", "")
	mixed := 0
	for i := range 100 {
		got := splice(a, b, python, seeded(i))
		for line := range strings.Lines(got) {
			if line = strings.TrimRight(line, "\n"); !strings.Contains(a, line) && !strings.Contains(b, line) {
				t.Fatalf("%q is of neither program", line)
			}
		}
		if strings.Contains(got, "y") && strings.Contains(got, "z") {
			mixed++
		}
	}
	if mixed < 40 {
		t.Errorf("%d of 100 have lines of both", mixed)
	}
}

func TestHeeded(t *testing.T) {
	bit := func(name string) uint {
		for k, i := range idioms {
			if i.name == name {
				return 1 << k
			}
		}
		t.Fatalf("no idiom %q", name)
		return 0
	}
	for _, tt := range []struct {
		says   string
		want   wish
		reason string
	}{
		{task.DefaultInstruction, wish{}, "the default instruction asks for nothing in particular"},
		{"Only tune the constants.", wish{numbers: true}, ""},
		{"Try something different.", wish{bold: true}, ""},
		{"Make it simpler.", wish{simpler: true}, ""},
		{"The program to change is program 1.", wish{first: true}, "as the default prompt says it"},
		{"which is invalid: threw TypeError (line 7, column 3)\nFix it.", wish{line: 7}, "the line that the reason names"},
		{"threw TypeError (line 7, column 3)", wish{}, "nothing is to be fixed"},
		{"> Prefer a ratio.", wish{prefer: bit("a ratio")}, "a note"},
		{"> Math.sqrt did not help", wish{avoid: bit("a square root")}, "a note against one"},
		{"> avoid a ratio\n> prefer a ratio or a minimum", wish{prefer: bit("a minimum"), avoid: bit("a ratio")}, "a note against one is the stronger"},
		{"Reply with one complete program in one fenced block tagged javascript.", wish{}, "the default prompt's last line"},
	} {
		if got := heeded(tt.says, 1, seeded(1)); got != tt.want {
			t.Errorf("%q: %+v, want %+v: %s", tt.says, got, tt.want, tt.reason)
		}
		if got := heeded(tt.says, 0, draw{}); got != (wish{}) { // would panic if it drew a number
			t.Errorf("%q: %+v is heeded with chance 0", tt.says, got)
		}
	}
	const n, p = 2000, 0.3
	hits := 0
	for i := range n {
		if heeded("Only tune the constants.", p, seeded(i)).numbers {
			hits++
		}
	}
	if math.Abs(float64(hits)-n*p) > 4*math.Sqrt(n*p*(1-p)) {
		t.Errorf("heeded %d times of %d with chance %v", hits, n, p)
	}
}

// What is heeded shows in the replies.
func TestHeed(t *testing.T) {
	const program = "function f(x) {\n    const a = 3;\n    return a * x + 7;\n}"
	m := newModel(t, Config{Broken: -1, Structure: 0.5, Heed: 1})
	numbers := regexp.MustCompile(pattern(program, lex.JavaScript.Literals(program)))
	const n = 200
	for _, c := range []struct {
		says  string
		holds func(got string) bool
		least int
	}{
		{"Only tune the constants.", numbers.MatchString, n},
		{"Fix line 3 of it.", func(got string) bool {
			return strings.HasPrefix(got, "function f(x) {\n    const a = 3;\n") && strings.HasSuffix(got, "}")
		}, n},
		{"Make it simpler.", func(got string) bool { return len(got) < len(program) }, n * 3 / 4},
		{"> Prefer a square root.", func(got string) bool { return strings.Contains(got, "Math.sqrt") }, n * 3 / 4},
		{"> Avoid a condition and a sum and a difference.", func(got string) bool { return !strings.Contains(got, "?") }, n},
	} {
		hits := 0
		for seed := range uint32(n) {
			if c.holds(replied(t, m, ask(seed, c.says, program))) {
				hits++
			}
		}
		if hits < c.least {
			t.Errorf("%q: holds for %d of %d replies, want %d", c.says, hits, n, c.least)
		}
	}
	two := 0
	for seed := range uint32(n) {
		if strings.Contains(replied(t, m, ask(seed, "The program to change is program 1.\nOnly tune the constants.", program, "g(1.5)")), "g(") {
			two++
		}
	}
	if two > 0 {
		t.Errorf("%d of %d replies change the program that was not to be changed", two, n)
	}
}

func TestInsights(t *testing.T) {
	fenced := func(score, program string) string {
		return "Attempt, with score " + score + ":\n\n" + task.Fence(program, "js") + "\n\n"
	}
	const asks = "Summarise what worked, as insights.\n"
	for _, tt := range []struct {
		text, want, reason string
	}{
		{fenced("0.5", "return a + b") + fenced("0.75", "return a / b") + asks,
			"Prefer a ratio: of 2 attempts, the 1 with it have the best mean score, 0.75.", "the better of two"},
		{fenced("0.9", "return a / b") + fenced("0.1", "return b / a") + fenced("0.6", "return a * b") + asks,
			"Prefer a product: of 3 attempts, the 1 with it have the best mean score, 0.6.", "the mean counts, not the best"},
		{"- used Math.sqrt: score 0.9\n- added a sum: score -1.5\n" + asks,
			"Prefer a square root: of 2 attempts, the 1 with it have the best mean score, 0.9.", "attempts told in a list"},
		{"- a condition: score 1e-3\n- a ratio: score 2e-3\n" + asks,
			"Prefer a ratio: of 2 attempts, the 1 with it have the best mean score, 0.002.", "small scores"},
		{fenced("0.5", "return a / b") + fenced("0.75", "return b / a") + asks, "Nothing tells the attempts apart.", "all have it"},
		{asks, "Nothing tells the attempts apart.", "none is shown"},
		{"Attempt, which is invalid:\n\n" + task.Fence("return a / b", "js") + "\n\n" + fenced("0.1", "return a + b") + asks,
			"Nothing tells the attempts apart.", "one without a score does not count"},
	} {
		m := newModel(t, Config{Insights: true})
		req := llm.Request{Messages: []llm.Message{{Role: llm.User, Content: tt.text}}}
		if got := generate(t, m, req).Text; got != tt.want {
			t.Errorf("%q: %q, want %q: %s", tt.text, got, tt.want, tt.reason)
		}
	}
}

// A note in the words of a summary is heeded as it is meant.
func TestSummariesAreHeeded(t *testing.T) {
	for k, i := range idioms {
		note := fmt.Sprintf("> Prefer %s: of 9 attempts, the 3 with it have the best mean score, 0.9.\n", i.name)
		if got := heeded(note, 1, seeded(1)); got != (wish{prefer: 1 << k}) {
			t.Errorf("%q: %+v, want that idiom", note, got)
		}
	}
}

func TestFew(t *testing.T) {
	m := newModel(t, Config{Few: 5, Structure: 0.5})
	texts := map[string]map[string]bool{"one": {}, "two": {}}
	for system, seen := range texts {
		for seed := range uint32(300) {
			seen[generate(t, m, request(seed*2654435761, system, "js", code)).Text] = true
		}
		if len(seen) != 5 {
			t.Errorf("%d distinct replies, want 5", len(seen))
		}
	}
	for text := range texts["one"] {
		if texts["two"][text] {
			t.Errorf("two prompts share the reply %q", text)
		}
	}
}

// The share of whole replies is (1 − Broken)·e^(−Long·n/1000), within four standard deviations of a binomial.
func TestLong(t *testing.T) {
	const n = 1000
	whole := regexp.MustCompile(pattern(code, lex.JavaScript.Literals(code)))
	for _, tokens := range []int{200, 800} {
		m := newModel(t, Config{Broken: 0.1, Long: 0.9})
		bad := 0
		system := strings.Repeat("word", tokens)
		for seed := range uint32(n) {
			program, err := task.ParseProgram(generate(t, m, request(seed, system, "js", code)).Text, "javascript")
			if err != nil || !whole.MatchString(program) {
				bad++
			}
		}
		prompt := usage(request(0, system, "js", code).Messages, "").PromptTokens
		want := n * (1 - 0.9*math.Exp(-0.9*float64(prompt)/1000))
		if math.Abs(float64(bad)-want) > 4*math.Sqrt(want*(1-want/n)) {
			t.Errorf("%d tokens: %d of %d replies hold no whole program, want %.0f", prompt, bad, n, want)
		}
	}
}

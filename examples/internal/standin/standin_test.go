package standin

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/mutate"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
)

var update = flag.Bool("update", false, "write the golden file")

// modelOf returns the offline model with abilities a, whose replies are never broken on purpose.
func modelOf(t *testing.T, a Abilities) *offline.Model {
	t.Helper()
	c := a.Config()
	c.Broken = -1
	m, err := offline.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func generate(t *testing.T, m *offline.Model, req llm.Request) llm.Reply {
	t.Helper()
	r, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// seeded returns a Draw of its own for each i.
func seeded(i int) mutate.Draw { return mutate.Draw{Rand: rand.New(rand.NewPCG(uint64(i), 1))} }

// ask returns a request that shows programs in JavaScript and then says something.
func ask(seed uint32, says string, programs ...string) llm.Request {
	var b strings.Builder
	for i, p := range programs {
		fmt.Fprintf(&b, "Program %d of %d, with score 0.5:\n\n%s\n\n", i+1, len(programs), task.Fence(p, "js"))
	}
	return llm.Request{Seed: seed, Messages: []llm.Message{{Role: llm.User, Content: b.String() + says + "\n"}}}
}

// replied returns the program of the reply to req.
func replied(t *testing.T, m *offline.Model, req llm.Request) string {
	t.Helper()
	program, err := task.ParseProgram(generate(t, m, req).Text, "js")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// Journals of earlier versions tell runs apart by what they had printed of the model.
func TestAbilitiesPrintAsInJournals(t *testing.T) {
	const want = "{Model:(, temperature 0.4, top-p 0.95, max tokens 16000) Broken:0 Latency:0s Structure:0 Splice:0.9 Heed:0.7 Insights:true Prose:1 Few:0 Long:0}"
	if got := fmt.Sprint(Abilities{Splice: 0.9, Heed: 0.7, Insights: true, Prose: 1}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A cross of two programs holds something of both, or of one only if what was taken stood in both.
func TestSplice(t *testing.T) {
	const a = "function f(x) {\n    const p = x + 11;\n    return p * 12;\n}"
	const b = "function f(x) {\n    const q = x - 21;\n    return q / 22;\n}"
	ofA, ofB := regexp.MustCompile(`\bp\b|11|12`), regexp.MustCompile(`\bq\b|21|22`)
	m := modelOf(t, Abilities{Splice: 1})
	const n = 300
	both := 0
	for seed := range uint32(n) {
		got := replied(t, m, ask(seed, "Combine the programs.", a, b))
		if ofA.MatchString(got) && ofB.MatchString(got) {
			both++
		}
	}
	if both < n/3 {
		t.Errorf("%d of %d crosses hold something of both programs", both, n)
	}
	for _, c := range []struct {
		m      *offline.Model
		says   string
		shows  []string
		reason string
	}{
		{m, "Improve the program.", []string{a, b}, "no cross is asked for"},
		{m, "Combine the programs.", []string{a}, "there is one program"},
		{modelOf(t, Abilities{Heed: 1}), "Combine the programs.", []string{a, b}, "the ability is off"},
	} {
		for seed := range uint32(100) {
			if got := replied(t, c.m, ask(seed, c.says, c.shows...)); strings.Contains(got, "p") && strings.Contains(got, "q") {
				t.Fatalf("spliced although %s:\n%s", c.reason, got)
			}
		}
	}
}

func TestHeeded(t *testing.T) {
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
		{"Reply with one complete program in one fenced block tagged javascript.", wish{}, "the default prompt's last line"},
	} {
		if got := heeded(tt.says, 1, seeded(1)); got != tt.want {
			t.Errorf("%q: %+v, want %+v: %s", tt.says, got, tt.want, tt.reason)
		}
		if got := heeded(tt.says, 0, mutate.Draw{}); got != (wish{}) { // would panic if it drew a number
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
	m := modelOf(t, Abilities{Heed: 1})
	numbers := regexp.MustCompile(`^function f\(x\) \{\n    const a = \S+;\n    return a \* x \+ \S+;\n\}$`)
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
		{"Make it simpler.", func(got string) bool { return len(got) < len(program) }, n},
		{"Try something different.", func(got string) bool { return !numbers.MatchString(got) }, n},
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
		if strings.Contains(replied(t, m, ask(seed, "The program to change is program 1.\nOnly tune the constants.", program,
			"g(1.5)")), "g(") {
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
		{fenced("0.5", "return a + b") + fenced("0.75", "return a / b") + asks, "Of 2 attempts the best came to 0.75.",
			"the better of two"},
		{"- used Math.sqrt: score 0.9\n- added a sum: score -1.5\n" + asks + `Each begins with "- ".`,
			"- Of 2 attempts the best came to 0.9.", "attempts told in a list, and a list asked for"},
		{"- a condition: score 1e-3\n- a ratio: score 2e-3\n" + asks, "Of 2 attempts the best came to 0.002.",
			"small scores"},
		{asks, "Nothing tells the attempts apart.", "none is shown"},
	} {
		m := modelOf(t, Abilities{Insights: true})
		req := llm.Request{Messages: []llm.Message{{Role: llm.User, Content: tt.text}}}
		if got := generate(t, m, req).Text; got != tt.want {
			t.Errorf("%q: %q, want %q: %s", tt.text, got, tt.want, tt.reason)
		}
	}
}

// Programs that are made to be hard to read get a reply, and so do those of which an edit leaves nothing.
func TestHostileProgramsWithAllAbilities(t *testing.T) {
	m := modelOf(t, Abilities{Splice: 1, Heed: 1, Insights: true})
	for _, p := range []string{"no numbers", "`", strings.Repeat("`${", 1<<10), strings.Repeat("1,", 1<<12),
		strings.Repeat("(", 1<<14) + "1.5",
		strings.Repeat("{", 1<<14), strings.Repeat("[", 1<<12) + strings.Repeat("]", 1<<12),
		strings.Repeat("a?b:", 1<<12) + "c", strings.Repeat("x => ", 1<<11) + "1",
		strings.Repeat("/", 1<<14), "\xff1.5\x00", strings.Repeat("-", 1<<14) + "1",
		"a = b => { return }; class A { #x; static { } get y() { return 1 } }", "export default function () { return 1 }",
		"for (const [a, ...b] of c) { ({ a, ['x']: b = 2 } = d); label: while (1) break label }",
		"x = `a${1 + `b${2}`}`; y = /[/]/g; z = 0x1F + 1n + 1_000 + .5"} {
		for seed := range uint32(5) {
			req := ask(seed, "Improve it.", p)
			generate(t, m, req)
			req.Messages[0].Content += task.Fence(p, "js") + "\nCombine them."
			generate(t, m, req)
		}
	}
}

// An edit may leave nothing of a program but white space, and the reply may then be a broken one.
func TestNothingIsLeft(t *testing.T) {
	c := Abilities{Splice: 1, Heed: 1}.Config()
	c.Broken = 0.5
	m, err := offline.New(c)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for seed := range uint32(500) {
		generate(t, m, ask(seed, "Fix line 1.", "x = 1"))
		req := llm.Request{Seed: seed, Messages: []llm.Message{{Role: llm.User,
			Content: task.Fence("x\n\n\n\n", "text") + "\n\n" +
				task.Fence("\n\n\n\nx", "text") + "\nCombine them."}}}
		if text := generate(t, m, req).Text; !strings.Contains(text, "x") {
			left++
		}
	}
	if left == 0 {
		t.Error("every reply holds a part of a program, so nothing was tested")
	}
}

// Runs are compared with earlier ones, and journals hold what the model answered, so its replies stay to the byte.
func TestRepliesStayAsTheyAre(t *testing.T) {
	const path = "testdata/replies.golden"
	const first, second = "function f(a, b) {\n  const c = a - 2 * b;\n  if (c < 3) return 0.5;\n  return c / 7; // so far\n}", "const f = (x) => Math.min(x, 4) + 1"
	var b strings.Builder
	for _, a := range []Abilities{{Heed: 1}, {Splice: 0.9, Heed: 0.7, Prose: 1, Insights: true}} {
		m := modelOf(t, a)
		for _, says := range []string{task.DefaultInstruction, "Combine the programs.", "Only tune the constants.",
			"Try something different.",
			"Make it simpler.\nThe program to change is program 1.", "It is invalid (line 3).\nFix it.",
			"Summarise what worked as insights."} {
			h := sha256.New()
			for seed := range uint32(200) {
				fmt.Fprintf(h, "%q\n", generate(t, m, ask(seed, says, first, second)).Text)
			}
			fmt.Fprintf(&b, "%v %q: %x\n", a, says, h.Sum(nil)[:8])
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("replies have changed:\n%s\nwant\n%s", b.String(), want)
	}
}

package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"

	"github.com/evoalloc/evoalloc/llm"
)

// hostileTexts are programs and messages that try to leave the place where they are shown, or to stop what shows them.
var hostileTexts = map[string]string{
	"the script ends":          `</script><script>canary()</script>`,
	"control characters":       "a\x00b\x1b[2J\x07\u2028",
	"letters turned round":     "\u202egnp.exe\u202c",
	"no UTF-8":                 "\xff\xfe\xc0\x80",
	"beyond the basic plane":   "x = \"\U0001F600\U0001F601\"\n# \U0001F602 é\n",
	"one long line":            strings.Repeat("x", 1<<20),
	"many lines":               strings.Repeat("x = 1\n", 40_000),
	"open brackets":            "def f():\n" + strings.Repeat("(", 60_000),
	"open strings":             strings.Repeat("\"\\", 30_000) + "\n",
	"line ends of each kind":   "def f():\r\n\treturn 1\r# x\n",
	"no line end at its end":   "def f(): return 1",
	"nothing":                  "",
	"a fence within a comment": "# ```\nx = 1\n# ```",
}

// tell returns a runLog of a run in which every text is this one.
func tell(text string) *runLog {
	l := newLog("1", text)
	pull, arm := 0, 0
	first, second := record.KeyOf("first").String(), record.KeyOf("second").String()
	bad := llm.Attempt{Status: llm.Failed, Kind: text, Err: text, Endpoint: text, Model: text}
	good := llm.Attempt{Status: llm.OK, Usage: &llm.Usage{PromptTokens: -5, CompletionTokens: math.MaxInt},
		Endpoint: text, Model: text}
	for i, r := range []record.Record{
		{Kind: record.Header, Fingerprint: journal.Fingerprint{"task": text, text: text}},
		{Kind: record.Incarnation, Command: text},
		{Kind: record.Run, Fingerprint: journal.Fingerprint{"policy": text, "arms": text}},
		{Kind: record.Program, Key: first, Text: text},
		{Kind: record.Start, Arm: &arm, Program: first, Proposal: books.Proposal{Valid: true, Score: -math.MaxFloat64}},
		{Kind: record.Draw, Pull: &pull, Arm: &arm},
		{Kind: record.Begin, Key: "1", Pull: &pull},
		{Kind: record.Completion, Key: "1", Reply: &llm.Reply{Text: text, Attempts: []llm.Attempt{bad, good}}},
		{Kind: record.Program, Key: second, Text: text + "\nend"},
		{Kind: record.Evaluation, Program: second, Result: &eval.Result{Valid: true, Score: math.MaxFloat64}},
		{Kind: record.Child, Key: "1", Pull: &pull, Child: new(int), Program: second,
			Proposal: books.Proposal{ID: 1, Parents: []int{0}, Operator: text, Labels: map[string]string{"cell": text},
				State: books.StateValid, Valid: true, Score: math.MaxFloat64}},
		{Kind: record.Failure, Key: "2", Reply: &llm.Reply{Attempts: []llm.Attempt{bad}},
			Error: &llm.ErrorRecord{Text: text}},
		{Kind: record.Child, Key: "2", Pull: &pull, Child: ptr(1),
			Proposal: books.Proposal{ID: 2, Parents: []int{2, -1}, Operator: text, State: books.StateFailed, Reason: text}},
		{Kind: record.Refusal, Key: "3", Limit: text},
		{Kind: record.Pause, Stop: "error", Error: &llm.ErrorRecord{Text: text}},
	} {
		r.Time = int64(i)
		l.Add(r)
	}
	return l
}

func ptr[T any](v T) *T { return &v }

// Whatever programs and messages hold, the page's data are JSON within bounds, names are fit to be read, and the text
// of a program is its own.
func TestHostileTexts(t *testing.T) {
	for reason, text := range hostileTexts {
		t.Run(reason, func(t *testing.T) {
			l := tell(text)
			s := l.Saved()
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if most := 8*len(text) + 1<<20; len(data) > most {
				t.Errorf("%d bytes of data for a text of %d, want %d at most", len(data), len(text), most)
			}
			checkNames(t, s)
			for key, code := range s.Programs {
				checkRuns(t, key, code)
			}
			if code, ok := l.Program(s.Line[0].Program); !ok || code.Text != strings.ToValidUTF8(text, "\uFFFD") {
				t.Errorf("the program is shown as %.40q", code.Text)
			}
			var page bytes.Buffer
			if err := render(&page, pageData{Title: text, Runs: []runState{s}}); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(page.Bytes(), []byte("<script>canary")) {
				t.Error("the page holds the text as it is")
			}
		})
	}
}

// checkNames checks that names, messages and facts hold nothing that a reader would not see.
func checkNames(t *testing.T, s runState) {
	t.Helper()
	names := append([]string{s.Command}, s.Labels...)
	for _, f := range s.Facts {
		names = append(names, f.Name, f.Value, f.Note)
	}
	for _, m := range s.Messages {
		names = append(names, m.Text)
	}
	for _, e := range s.Endpoints {
		names = append(names, e.Name)
		for status := range e.Statuses {
			names = append(names, status)
		}
	}
	for _, name := range append(names, s.Children.Reason...) {
		if strings.ContainsAny(name, "\x00\x1b\x07\u2028\u202e\n") || len(name) > 5000 {
			t.Errorf("a name of %d bytes: %.60q", len(name), name)
		}
	}
}

// checkRuns checks that the runs of a program cover it.
func checkRuns(t *testing.T, key string, c programText) {
	t.Helper()
	if c.Runs == nil {
		return
	}
	sum := 0
	for i := 0; i < len(c.Runs); i += 2 {
		sum += c.Runs[i]
		if class := c.Runs[i+1]; c.Runs[i] <= 0 || class < tokenPlain || class > tokenOperator {
			t.Errorf("%s: a run of length %d and class %d", key, c.Runs[i], class)
		}
	}
	if want := len(utf16.Encode([]rune(c.Text))); sum != want {
		t.Errorf("%s: runs of %d units for a text of %d", key, sum, want)
	}
}

// Programs of Python are coloured, and what is too long is not.
func TestColours(t *testing.T) {
	program := "def f(x):\n    return \"a\" + str(1)  # é\n"
	code, ok := tell(program).Program(tell(program).State(rowCursor{}).Line[0].Program)
	if !ok || len(code.Runs) < 10 {
		t.Fatalf("runs %v of %q", code.Runs, code.Text)
	}
	classes := map[int]bool{}
	for i := 1; i < len(code.Runs); i += 2 {
		classes[code.Runs[i]] = true
	}
	for _, want := range []int{tokenKeyword, tokenString, tokenComment, tokenNumber, tokenFunction} {
		if !classes[want] {
			t.Errorf("no run of class %d in %v", want, code.Runs)
		}
	}
	for _, long := range []string{strings.Repeat(program, 2000), program + strings.Repeat("x", 5000)} {
		l := tell(long)
		if code, _ := l.Program(l.State(rowCursor{}).Line[0].Program); code.Runs != nil {
			t.Errorf("a program of %d bytes is coloured", len(long))
		}
	}
}

// A diff has the lines that changed with their numbers, and its length is bounded.
func TestDiff(t *testing.T) {
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	for _, tt := range []struct {
		reason, before, after string
		most                  int // bytes of text
		ops                   string
	}{
		{"one line of ten", lines(10, "%d"), strings.Replace(lines(10, "%d"), "5\n", "five\n", 1), 100, "@ -+ @"},
		{"equal texts", "a\n", "a\n", 0, ""},
		{"a text without an end of line", "a\nb", "a\nb\n", 0, ""},
		{"from nothing", "", "a\nb\n", 10, "+"},
		{"20,000 unlike lines", lines(20_000, "a%d"), lines(20_000, "b%d"), 80 << 10, "-@"},
		{"a line of a megabyte", strings.Repeat("x", 1<<20), strings.Repeat("y", 1<<20), 5 << 10, "-+"},
		{"more than is compared", strings.Repeat("x", 3<<20), "y", 100, "@"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			l := newLog("1", "")
			for key, text := range map[string]string{"a": tt.before, "b": tt.after} {
				l.Add(record.Record{Kind: record.Program, Key: key, Text: text})
			}
			size, ops := 0, ""
			for _, c := range l.Diff("a", "b") {
				size += len(c.Text)
				ops += c.Op
			}
			if size > tt.most || ops != tt.ops {
				t.Errorf("%d bytes in the changes %q, want %d at most in %q", size, ops, tt.most, tt.ops)
			}
		})
	}
	l := newLog("1", "")
	if l.Diff("a", "b") != nil {
		t.Error("a diff of programs that are not there")
	}
}

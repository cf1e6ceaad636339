package offline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

const code = `// 26 circles of radius 0.1
function pack(n1) {
  const c = [[0.5, 0.5], [0.25, 0]];
  for (let i = 0; i < 26; i++) c.push([0.01 * i, -0.5]);
  return c; // the "end" (2)
}`

func request(seed uint32, system, language, program string) llm.Request {
	return llm.Request{Seed: seed, Messages: []llm.Message{
		{Role: llm.System, Content: system},
		{Role: llm.User, Content: "Score 0.5.\n\n" + task.Fence(program, language) + "\n\nImprove it.\n"},
	}}
}

func newModel(t *testing.T, c Config) *Model {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func generate(t *testing.T, m *Model, req llm.Request) llm.Reply {
	t.Helper()
	r, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
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

// pattern matches what may become of src: each literal as it was or another number, with its suffix,
// and all that is between them to the byte.
func pattern(src string, ls []lex.Literal) string {
	var b strings.Builder
	at := 0
	for _, l := range ls {
		fmt.Fprintf(&b, `%s(?:%s|\(?[-+]?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?%s\)?)`, regexp.QuoteMeta(src[at:l.Begin]),
			regexp.QuoteMeta(src[l.Begin:l.End]), l.Suffix)
		at = l.End
	}
	return `^` + b.String() + regexp.QuoteMeta(src[at:]) + `$`
}

// untimed returns r without its latencies.
func untimed(r llm.Reply) llm.Reply {
	for i := range r.Attempts {
		r.Attempts[i].Latency = 0
	}
	return r
}

func TestNewChecks(t *testing.T) {
	tests := []struct {
		c            Config
		want, reason string
	}{
		{Config{}, "", "the zero value works"},
		{Config{Broken: 1}, "", "all may be broken"},
		{Config{Broken: -1}, "", "none may be"},
		{Config{Model: llm.Model{Name: "x"}}, "Key", "a model without a key cannot be told from another"},
		{Config{Model: llm.Model{Key: "x", ActiveParams: -1}}, "ActiveParams is -1", "not a size"},
		{Config{Model: llm.Model{Key: "x", MaxTokens: -1}}, "MaxTokens is -1", "not a cap"},
		{Config{Model: llm.Model{Key: "x", Timeout: -1}}, "Timeout is -1ns", "not a time"},
		{Config{Broken: 1.5}, "Broken is 1.5", "more than all"},
		{Config{Broken: math.NaN()}, "Broken is NaN", "no share"},
		{Config{Latency: -time.Second}, "Latency is -1s", "not a time"},
		{Config{Prose: -1}, "Prose is -1", "no share"},
	}
	for _, tt := range tests {
		_, err := New(tt.c)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%+v): %v, want %q: %s", tt.c, err, tt.want, tt.reason)
		}
	}
}

func TestAbilitiesPrint(t *testing.T) {
	m := newModel(t, Config{Prose: 0.75})
	if got, want := m.String(), "latency 0s, prose 0.75)"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want it to end in %s: a journal tells models apart by it", got, want)
	}
}

func TestEqualRequestsHaveEqualReplies(t *testing.T) {
	m := newModel(t, Config{})
	const n = 200
	want := make([]llm.Reply, n)
	for i := range want {
		want[i] = untimed(generate(t, m, request(uint32(i), "sys", "js", code)))
	}
	var wg sync.WaitGroup
	for i := range want {
		for range 4 {
			wg.Go(func() {
				r, err := m.Generate(t.Context(), request(uint32(i), "sys", "js", code))
				if got := untimed(r); err != nil || !reflect.DeepEqual(got, want[i]) {
					t.Errorf("seed %d: %+v, %v, want %+v", i, got, err, want[i])
				}
			})
		}
	}
	wg.Wait()
	texts := map[string]bool{}
	for _, r := range want {
		texts[r.Text] = true
	}
	if len(texts) < n*3/4 {
		t.Errorf("%d seeds have only %d replies", n, len(texts))
	}
}

// What is asked decides the reply with the seed: two parents do not get the same edits.
func TestPromptDecides(t *testing.T) {
	m := newModel(t, Config{Broken: -1})
	same := 0
	for seed := range uint32(50) {
		a := generate(t, m, request(seed, "one", "js", code))
		b := generate(t, m, request(seed, "two", "js", code))
		if a.Text == b.Text {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of 50 replies do not depend on the system message", same)
	}
}

// A whole reply parses to the program with nothing changed but numbers. The share of the others is
// the one asked for, within four standard deviations of a binomial.
func TestBrokenShare(t *testing.T) {
	const n = 2000
	whole := regexp.MustCompile(pattern(code, lex.JavaScript.Literals(code)))
	tests := []struct {
		broken, want float64
		reason       string
	}{
		{-1, 0, "none"},
		{0, defaultBroken, "the default"},
		{0.5, 0.5, "half"},
		{1, 1, "all"},
	}
	for _, tt := range tests {
		m := newModel(t, Config{Broken: tt.broken})
		bad, unchanged := 0, 0
		for seed := range uint32(n) {
			program, err := task.ParseProgram(generate(t, m, request(seed, "", "js", code)).Text, "javascript")
			if err != nil || !whole.MatchString(program) {
				bad++
			}
			if program == code {
				unchanged++
			}
		}
		sd := math.Sqrt(n * tt.want * (1 - tt.want))
		if math.Abs(float64(bad)-n*tt.want) > 4*sd {
			t.Errorf("Broken %v: %d of %d replies hold no whole program: %s", tt.broken, bad, n, tt.reason)
		}
		if unchanged > n/20 {
			t.Errorf("Broken %v: %d of %d replies change nothing", tt.broken, unchanged, n)
		}
	}
}

func TestUsage(t *testing.T) {
	m := newModel(t, Config{Model: llm.Model{Key: "m", ActiveParams: 7}})
	system := strings.Repeat("x", 401) // 101 tokens: 6 blocks of 16
	req := request(1, system, "js", code)
	r := generate(t, m, req)
	want := llm.Usage{PromptTokens: 101 + tokens(req.Messages[1].Content), CachedTokens: 96,
		CompletionTokens: (len(r.Text) + 3) / 4}
	if len(r.Attempts) != 1 || *r.Attempts[0].Usage != want {
		t.Fatalf("attempts %+v, want one with usage %+v", r.Attempts, want)
	}
	a := r.Attempts[0]
	if a.Status != llm.OK || a.MaxTokens != llm.DefaultMaxTokens || a.Model != "m" || a.ActiveParams != 7 || a.Err != "" {
		t.Errorf("attempt %+v", a)
	}
	req.Messages = req.Messages[1:]
	if u := generate(t, m, req).Attempts[0].Usage; u.CachedTokens != 0 {
		t.Errorf("a prompt of one message has %d cached tokens: its own cannot be known before", u.CachedTokens)
	}
}

func TestFinishReason(t *testing.T) {
	m := newModel(t, Config{Broken: -1})
	req := request(1, "", "js", code)
	if a := generate(t, m, req).Attempts[0]; a.FinishReason != "stop" {
		t.Errorf("a whole reply finished for %q", a.FinishReason)
	}
	for limit := 1; limit < 120; limit++ {
		req.MaxTokens = &limit
		r := generate(t, m, req)
		if u := r.Attempts[0].Usage; u.CompletionTokens > limit || r.Attempts[0].MaxTokens != limit {
			t.Fatalf("limit %d: usage %+v, attempt %+v", limit, u, r.Attempts[0])
		}
	}
	short := 10
	req.MaxTokens = &short
	if r := generate(t, m, req); r.Attempts[0].FinishReason != "length" || len(r.Text) != 40 {
		t.Errorf("a reply cut at 10 tokens: %q, %+v", r.Text, r.Attempts[0])
	}
	m = newModel(t, Config{Broken: 1})
	reasons := map[string]int{}
	for seed := range uint32(200) {
		reasons[generate(t, m, request(seed, "", "js", code)).Attempts[0].FinishReason]++
	}
	if reasons["length"] < 40 || reasons["stop"] < 80 || len(reasons) != 2 {
		t.Errorf("broken replies finish for %v", reasons)
	}
}

func TestLatency(t *testing.T) {
	tests := []struct {
		name              string
		latency, deadline time.Duration // of the model, of the context
		timeout           time.Duration // of the model's spec
		cancel            bool
		status            llm.Status
		takes             time.Duration
	}{
		{"in time", time.Second, time.Minute, time.Minute, false, llm.OK, time.Second},
		{"at once", 0, time.Minute, time.Minute, false, llm.OK, 0},
		{"deadline", time.Minute, time.Second, time.Hour, false, llm.Timeout, time.Second},
		{"model's timeout", time.Minute, time.Hour, 2 * time.Second, false, llm.Timeout, 2 * time.Second},
		{"canceled", time.Minute, 3 * time.Second, time.Hour, true, llm.Canceled, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, Config{Latency: tt.latency, Model: llm.Model{Key: "m", Timeout: tt.timeout}})
				ctx, cancel := context.WithCancel(t.Context())
				if tt.cancel {
					time.AfterFunc(tt.deadline, cancel)
				} else {
					ctx, cancel = context.WithTimeout(t.Context(), tt.deadline)
				}
				defer cancel()
				r, err := m.Generate(ctx, request(1, "", "js", code))
				if len(r.Attempts) != 1 || r.Attempts[0].Status != tt.status || r.Attempts[0].Latency != tt.takes {
					t.Fatalf("reply %+v, error %v", r, err)
				}
				checkEnd(t, r, err)
			})
		})
	}
}

// checkEnd checks that what a reply says of its end fits the error.
func checkEnd(t *testing.T, r llm.Reply, err error) {
	a := r.Attempts[0]
	if a.Status == llm.OK {
		if err != nil || r.Text == "" || a.Usage == nil {
			t.Errorf("reply %+v, error %v", r, err)
		}
		return
	}
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != a.Status || a.Err == "" || r.Text != "" || a.Usage != nil ||
		llm.Unavailable(err) {
		t.Errorf("reply %+v, error %v", r, err)
	}
}

func TestNotSent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := newModel(t, Config{}).Generate(ctx, request(1, "", "js", code))
	if len(r.Attempts) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was never sent made attempts %+v, error %v", r.Attempts, err)
	}
}

func TestBadRequest(t *testing.T) {
	none := 0
	tests := []struct {
		req    llm.Request
		reason string
	}{
		{llm.Request{}, "no messages"},
		{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}, MaxTokens: &none}, "no tokens"},
	}
	for _, tt := range tests {
		r, err := newModel(t, Config{}).Generate(t.Context(), tt.req)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.KindBadRequest || !e.Final() || len(r.Attempts) != 1 ||
			r.Attempts[0].Kind != e.Kind {
			t.Errorf("reply %+v, error %v: %s", r, err, tt.reason)
		}
	}
}

func TestShown(t *testing.T) {
	user := func(s string) llm.Message { return llm.Message{Role: llm.User, Content: s} }
	tests := []struct {
		messages []llm.Message
		want     []string // each of which is taken for some seed
		reason   string
	}{
		{[]llm.Message{user("```js\na(1.5)\n```")}, []string{"a("}, "the one there is"},
		{[]llm.Message{user("```js\na(1.5)\n```\n```text\nb(1.5)\n```")}, []string{"b("}, "the last"},
		{[]llm.Message{user("```js\na(1.5)\n```\n```text\nb(1.5)\n```\n```js\nc(1.5)\n```")}, []string{"a(", "c("},
			"those tagged like the last: several parents"},
		{[]llm.Message{user("```js\na(1.5)\n```"), user("Better!")}, []string{"a("}, "in the last message that has one"},
		{[]llm.Message{user("```js\na(1.5)\n```"), {Role: llm.Assistant, Content: "```js\nb(1.5)\n```"}}, []string{"a("},
			"the user's before the assistant's"},
		{[]llm.Message{{Role: llm.System, Content: "```js\na(1.5)\n```"}, user("Go.")}, []string{"a("},
			"the system's if there is no other"},
		{[]llm.Message{user("```js\r\na(1.5)\r\n```\r\n```js\n \n```")}, []string{"a("},
			"not an empty one; Windows line ends"},
		{[]llm.Message{user("a(1.5)")}, []string{"I see no program"}, "none at all"},
	}
	m := newModel(t, Config{Broken: -1})
	for _, tt := range tests {
		seen := map[string]bool{}
		for seed := range uint32(40) {
			text := generate(t, m, llm.Request{Messages: tt.messages, Seed: seed}).Text
			hit := false
			for _, w := range tt.want {
				if strings.Contains(text, w) {
					seen[w], hit = true, true
				}
			}
			if !hit {
				t.Errorf("%q: replied %q: %s", tt.messages, text, tt.reason)
				break
			}
		}
		if len(seen) != len(tt.want) {
			t.Errorf("%q: only %v taken, want %v: %s", tt.messages, seen, tt.want, tt.reason)
		}
	}
}

// Programs of any kind get a reply, and one without numbers comes back as it is.
func TestHostilePrograms(t *testing.T) {
	m := newModel(t, Config{})
	for _, p := range []string{"no numbers", "1", "x", "```\n1.5\n```", strings.Repeat("`${", 1<<16),
		strings.Repeat("1,", 1<<16),
		strings.Repeat("(", 1<<18) + "1.5", "'" + strings.Repeat("\\", 1<<18), strings.Repeat("/", 1<<18),
		strings.Repeat("/[", 1<<18), "\xff1.5\x00", strings.Repeat("0.5/*", 1<<16)} {
		for seed := range uint32(5) {
			generate(t, m, request(seed, "", "js", p))
		}
	}
	whole := newModel(t, Config{Broken: -1})
	for seed := range uint32(20) {
		got, err := task.ParseProgram(generate(t, whole, request(seed, "", "js", "x1 = 'a2'")).Text, "js")
		if err != nil || got != "x1 = 'a2'" {
			t.Errorf("a program without numbers came back as %q, %v", got, err)
		}
	}
}

// Integers mostly stay integers, and counts mostly stay what they are.
func TestCountsAreRarelyChanged(t *testing.T) {
	m := newModel(t, Config{Broken: -1})
	count := regexp.MustCompile(`i < 26;`)
	integer := regexp.MustCompile(`i < [0-9]+;`)
	const n = 1000
	same, whole := 0, 0
	for seed := range uint32(n) {
		text := generate(t, m, request(seed, "", "js", code)).Text
		if count.MatchString(text) {
			same++
		}
		if integer.MatchString(text) {
			whole++
		}
	}
	if same < n*85/100 || same == n || whole < n*98/100 {
		t.Errorf("of %d replies %d keep the loop's bound, %d keep it an integer", n, same, whole)
	}
}

// A Plan may be the whole reply, the program that is changed, or the change.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		plan   Plan
		want   string
		reason string
	}{
		{Plan{Text: "No."}, `^No\.$`, "the whole reply"},
		{Plan{First: true}, "a[(]", "the first program, its numbers changed"},
		{Plan{Change: func(all []Program, i int) (string, bool) {
			return all[i].Text + all[1-i].Text + all[i].Language, true
		}},
			`a\(1\.5\)b\(1\.5\)js|b\(1\.5\)a\(1\.5\)js`, "the change"},
	} {
		m := newModel(t, Config{Broken: -1, Read: func(message string, r *rand.Rand) Plan {
			if !strings.Contains(message, "Improve them.") || r == nil {
				t.Errorf("asked about %q", message)
			}
			return tt.plan
		}})
		for seed := range uint32(40) {
			text := generate(t, m, llm.Request{Seed: seed, Messages: []llm.Message{
				{Role: llm.User, Content: "```js\na(1.5)\n```\n```js\nb(1.5)\n```\nImprove them."}}}).Text
			if !regexp.MustCompile(tt.want).MatchString(text) {
				t.Fatalf("%q: %s", text, tt.reason)
			}
		}
	}
}

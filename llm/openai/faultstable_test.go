package openai_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

var update = flag.Bool("update", false, "write the tables of docs/measurements/2026-11-25-faults.md")

// faultsDoc holds the tables that TestFaultsTable produces.
const faultsDoc = "../../docs/measurements/2026-11-25-faults.md"

// What the tables are made with, beside what docs/measurements/2026-11-25-faults.md says of it.
const (
	tableLimit  = 2 * time.Second // for the first token, for silence, and for a call that is not streamed
	tableMedian = 40              // that the rule bounded charges
)

// tableModel makes a token cost one GFLOP.
var tableModel = llm.Model{Key: "half-billion", ActiveParams: 500_000_000, MaxTokens: 1000}

// A faultRow is a call that meets a fault on its first attempt, and none after.
type faultRow struct {
	fault   llmtest.Fault
	restart bool // of the server, in the middle of the answer
	nobody  bool // nothing listens
}

func (r faultRow) String() string {
	switch {
	case r.restart:
		return "server restart"
	case r.nobody:
		return "nothing listens"
	}
	return cmp.Or(string(r.fault), "none")
}

func faultRows() []faultRow {
	rows := []faultRow{{}}
	for _, f := range llmtest.Faults() {
		if f == "400 tools" || f == "no call ids" { // which ask for tools: see TestToolsOverTheWire
			continue
		}
		rows = append(rows, faultRow{fault: f})
	}
	return append(rows, faultRow{fault: "hang body", restart: true}, faultRow{nobody: true})
}

// limits are those of the tables where the fault is one for limits, and else such that a busy
// machine does not pass them.
func (r faultRow) limits() (m llm.Model, s openai.Stream) {
	m, s = tableModel, openai.Stream{FirstToken: time.Minute, Silence: time.Minute, MinRate: -1}
	m.Timeout = time.Minute
	switch r.fault {
	case "hang", "hang first token", "hang body", "drip":
		if !r.restart {
			m.Timeout, s = tableLimit, openai.Stream{FirstToken: tableLimit, Silence: tableLimit, MinRate: 10,
				Window: tableLimit}
		}
	}
	return m, s
}

// A faultResult is what became of it.
type faultResult struct {
	faultRow
	reply  llm.Reply
	err    error
	url    string
	server llmtest.Stats
}

// run makes the call over HTTP.
func (r faultRow) run(ctx context.Context, streamed bool) (res faultResult, err error) {
	srv := llmtest.NewServer(llmtest.Config{
		Reply: say(reply50), Fault: llmtest.Must(cmp.Or(string(r.fault), "none") + ":1"), Drip: 10 * tableLimit,
		RetryAfter: time.Second,
	})
	defer srv.Close()
	m, limits := r.limits()
	cfg := openai.Config{BaseURL: srv.URL, APIKey: secret, Model: m, Stream: limits, Whole: !streamed}
	if streamed {
		cfg.Model.Timeout = time.Minute
	}
	client, err := openai.New(cfg)
	if err != nil {
		return res, err
	}
	defer client.Close()
	var g errgroup.Group
	gated := ctx
	switch {
	case r.nobody:
		srv.Close()
	case r.restart:
		back := make(chan struct{})
		g.Go(func() error {
			defer close(back)
			return restartUnderWay(ctx, srv, streamed)
		})
		gated = llm.WithTrace(ctx, &llm.Trace{Again: func(context.Context, llm.Request) error { <-back; return nil }})
	}
	stack := llm.Retry(llm.Limit(client, 1), llm.RetryConfig{Max: 1, MaxStalls: 1, Wait: 10 * time.Millisecond})
	res = faultResult{faultRow: r, url: srv.URL}
	res.reply, res.err = stack.Generate(gated, request)
	err = errors.Join(g.Wait(), srv.Drain(ctx))
	res.server = srv.Stats()
	return res, err
}

// restartUnderWay restarts the server once half an answer has been sent.
func restartUnderWay(ctx context.Context, srv *llmtest.Server, streamed bool) error {
	for s := srv.Stats(); s.Calls == 0 || streamed && s.Sent == 0; s = srv.Stats() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
	return srv.Restart()
}

func TestFaultsTable(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	doc, err := os.ReadFile(faultsDoc)
	if err != nil {
		t.Fatal(err)
	}
	text := string(doc)
	for name, results := range runFaults(t, ctx) {
		text = replaceTable(t, text, name, table(results))
	}
	if *update {
		if err := os.WriteFile(faultsDoc, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(withoutTimes(string(doc)), withoutTimes(text)); diff != "" {
		t.Errorf("%s is not what this run shows (-file +run; go test -run FaultsTable ./llm/openai -update writes it):\n%s",
			faultsDoc, diff)
	}
}

// runFaults makes all calls, and returns what became of them by table.
func runFaults(t *testing.T, ctx context.Context) map[string][]faultResult {
	t.Helper()
	rows := faultRows()
	tables := map[string][]faultResult{"streamed": make([]faultResult, len(rows)), "whole": make([]faultResult, len(rows))}
	var g errgroup.Group
	g.SetLimit(8)
	for name, results := range tables {
		for i, row := range rows {
			g.Go(func() (err error) {
				results[i], err = row.run(ctx, name == "streamed")
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for name, results := range tables {
		for _, r := range results {
			r.check(t, name == "streamed")
		}
	}
	return tables
}

// check holds what the table cannot show: both sides count the same.
func (r faultResult) check(t *testing.T, streamed bool) {
	t.Helper()
	attempts, sent := len(r.reply.Attempts), 0
	for _, a := range r.reply.Attempts {
		sent += a.Streamed
		if a.Status == llm.OK != (a.Err == "") {
			t.Errorf("%v: status %s, error %q", r, a.Status, a.Err)
		}
	}
	calls := r.server.Calls
	if r.nobody {
		calls = 1 // that it could not see
	}
	if attempts != calls || streamed && sent != r.server.Sent {
		t.Errorf("%v: %d attempts with %d tokens, the server saw %d with %d", r, attempts, sent, calls, r.server.Sent)
	}
	left := r.server.Ended["left"]
	if stalled := countStatus(r.reply.Attempts, llm.Stalled) +
		countStatus(r.reply.Attempts, llm.Timeout); stalled != left {
		t.Errorf("%v: %d attempts ended by a limit, the server saw %d clients leave", r, stalled, left)
	}
	for _, a := range r.reply.Attempts {
		if a.Status.Class() == llm.Stall && a.Latency < tableLimit {
			t.Errorf("%v: ended by a limit after %v", r, a.Latency)
		}
	}
}

func countStatus(attempts []llm.Attempt, s llm.Status) (n int) {
	for _, a := range attempts {
		if a.Status == s {
			n++
		}
	}
	return n
}

// table prints the results in Markdown.
func table(results []faultResult) string {
	var b strings.Builder
	b.WriteString("| fault | attempts | prompt / completion | worst case | exclude | bounded | observed | the caller gets | seen leaving, ms |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %v | %s | %s", r, attemptsCell(r.reply.Attempts), tokensCell(r.reply.Attempts))
		for _, rule := range flops.Rules() {
			sum := flops.SumWith(slices.Values(r.reply.Attempts), tableModel.ActiveParams, rule, tableMedian)
			fmt.Fprintf(&b, " | %.0f", sum.TotalFLOPs/1e9)
		}
		fmt.Fprintf(&b, " | %s | %s |\n", r.outcome(), r.leaving())
	}
	return b.String()
}

func attemptsCell(attempts []llm.Attempt) string {
	var parts []string
	for _, a := range attempts {
		s := string(a.Status)
		if a.Kind != "" {
			s += " " + a.Kind
		}
		if a.Streamed > 0 {
			s += fmt.Sprintf(" (%d)", a.Streamed)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

func tokensCell(attempts []llm.Attempt) string {
	var parts []string
	for _, a := range attempts {
		s := "–"
		if u := a.Usage; u != nil {
			s = fmt.Sprintf("%d / %d", u.PromptTokens, u.CompletionTokens)
			if u.CachedTokens > 0 {
				s = fmt.Sprintf("%d (%d cached) / %d", u.PromptTokens, u.CachedTokens, u.CompletionTokens)
			}
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// outcome is what Generate returned.
func (r faultResult) outcome() string {
	switch {
	case r.err != nil:
		s := strings.ReplaceAll(strings.ReplaceAll(r.err.Error(), r.url, "URL"), hostOf(r.url), "HOST")
		return "error: " + strings.ReplaceAll(s, "|", `\|`)
	case r.reply.Text == reply50:
		return "the answer"
	}
	last := r.reply.Attempts[len(r.reply.Attempts)-1]
	return fmt.Sprintf("%d of 200 bytes, finish reason %q", len(r.reply.Text), last.FinishReason)
}

func hostOf(url string) string { return strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/v1") }

// leaving is how long after the last byte it was sent the server saw the client leave.
func (r faultResult) leaving() string {
	var parts []string
	for _, d := range r.server.Gone {
		parts = append(parts, fmt.Sprint(d.Idle.Milliseconds()))
	}
	return cmp.Or(strings.Join(parts, ", "), "–")
}

// replaceTable puts table between the marks of its name.
func replaceTable(t *testing.T, doc, name, table string) string {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- table %s -->\n", name), "<!-- end -->"
	head, rest, ok1 := strings.Cut(doc, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table %s", faultsDoc, name)
	}
	return head + begin + "\n" + table + "\n" + end + tail
}

// withoutTimes leaves out the milliseconds, which differ from run to run.
func withoutTimes(doc string) string {
	return regexp.MustCompile(`(?m)\| [0-9, ]+ \|$`).ReplaceAllString(doc, "| ms |")
}

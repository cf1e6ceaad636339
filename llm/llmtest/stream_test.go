package llmtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// A streamed is what a client gets of a streamed answer.
type streamed struct {
	status    int
	events    []string // the data of each
	text      string
	reasoning string
	finish    string
	usages    []llmtest.Usage
	err       error // of the connection
}

// askStream sends one request as any client would, and reads what comes.
func askStream(ctx context.Context, url string, options string, maxTokens int) (s streamed) {
	body := fmt.Sprintf(`{"model": "m", "seed": 5, "max_tokens": %d, "stream": true, %s "messages": [{"role": "user", "content": "hello"}]}`, maxTokens, options)
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return streamed{err: err}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return streamed{err: err}
	}
	defer resp.Body.Close()
	s.status = resp.StatusCode
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			s.take(data)
		}
	}
	s.err = lines.Err()
	return s
}

func (s *streamed) take(data string) {
	s.events = append(s.events, data)
	var c struct {
		Choices []struct {
			Delta struct {
				Content          string
				ReasoningContent string `json:"reasoning_content"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if json.Unmarshal([]byte(data), &c) != nil {
		return
	}
	for _, choice := range c.Choices {
		s.text += choice.Delta.Content
		s.reasoning += choice.Delta.ReasoningContent
		s.finish += choice.FinishReason
	}
	if c.Usage != nil {
		s.usages = append(s.usages, llmtest.Usage{PromptTokens: c.Usage.Prompt, CompletionTokens: c.Usage.Completion})
	}
}

const (
	noOptions  = ""
	finalUse   = `"stream_options": {"include_usage": true},`
	continuous = `"stream_options": {"include_usage": true, "continuous_usage_stats": true},`
)

func say(text string) func(llmtest.Request) string {
	return func(llmtest.Request) string { return text }
}

func TestStreamProtocol(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Reply: say("0123456789"), Reasoning: say("hmm, so")})
	defer srv.Close()
	for _, tt := range []struct {
		reason, options string
		events          int // a role, 2 and 3 tokens, the finish reason, perhaps usage, [DONE]
		usages          []int
	}{
		{"no usage unless it is asked for", noOptions, 8, nil},
		{"usage at the end", finalUse, 9, []int{5}},
		{"usage as it goes", continuous, 9, []int{0, 1, 2, 3, 4, 5, 5, 5}},
	} {
		s := askStream(t.Context(), srv.URL, tt.options, 100)
		var counts []int
		for _, u := range s.usages {
			counts = append(counts, u.CompletionTokens)
			if u.PromptTokens != 2 {
				t.Errorf("%s: usage %+v", tt.reason, u)
			}
		}
		if s.text != "0123456789" || s.reasoning != "hmm, so" || s.finish != "stop" || s.err != nil ||
			len(s.events) != tt.events ||
			s.events[len(s.events)-1] != "[DONE]" {
			t.Errorf("%s: %+v", tt.reason, s)
		}
		if diff := cmp.Diff(tt.usages, counts); diff != "" {
			t.Errorf("%s: completion tokens (-want +got):\n%s", tt.reason, diff)
		}
	}
}

func TestTokensAreWholeCharacters(t *testing.T) {
	text := "aé€😀" + strings.Repeat("€", 10)
	srv := llmtest.NewServer(llmtest.Config{Reply: say(text)})
	defer srv.Close()
	if s := askStream(t.Context(), srv.URL, noOptions, 100); s.text != text {
		t.Errorf("text %q, want %q", s.text, text)
	}
}

func TestRateAndFirstToken(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Reply: say(strings.Repeat("abcd", 20)),
		FirstToken: llmtest.Constant(100 * time.Millisecond), Rate: 200})
	defer srv.Close()
	start := time.Now()
	s := askStream(t.Context(), srv.URL, noOptions, 100)
	if d := time.Since(start); d < 195*time.Millisecond || len(s.events) != 23 { // 100 ms and 19 gaps of 5 ms
		t.Errorf("20 tokens at 200 a second came in %v, %d events", d, len(s.events))
	}
}

// half is what a stream holds that is spoiled in the middle: 5 of 10 tokens.
const half = "01234567890123456789"

func TestStreamFaults(t *testing.T) {
	for _, tt := range []struct {
		fault  llmtest.Fault
		text   string
		finish string
		broken bool // the connection
		ended  string
		last   string // part of the last event
	}{
		{"length", half, "length", false, "answered", "[DONE]"},
		{"empty length", "", "length", false, "answered", "[DONE]"},
		{"null content", "", "stop", false, "spoiled", "[DONE]"},
		{"no choices", "", "", false, "spoiled", "[DONE]"},
		{"no end", half, "", false, "spoiled", `"6789"`},
		{"malformed JSON", half, "", false, "spoiled", `"cont`},
		{"wrong-typed JSON", half, "", false, "spoiled", `"choices": "none"`},
		{"error in stream", half, "", false, "spoiled", "Upstream provider failed"},
		{"error field", half, "", false, "spoiled", `"6789"`},
		{"error in choice", half, "error", false, "spoiled", "Upstream provider failed"},
		{"no finish reason", half + half, "", false, "answered", "[DONE]"},
		{"content filter", "", "content_filter", false, "spoiled", "[DONE]"},
		{"close after stream", half + half, "stop", false, "answered", "[DONE]"},
		{"cut body", half, "", true, "broken off", `"6789"`},
		{"reset body", half, "", true, "broken off", `"6789"`},
		{"no usage", half + half, "stop", false, "answered", "[DONE]"},
		{"html 200", "", "", false, "spoiled", ""},
		{"401", "", "", false, "refused", ""},
	} {
		if tt.fault == "empty length" {
			tt.ended = "spoiled"
		}
		srv := llmtest.NewServer(llmtest.Config{Reply: say(half + half), Fault: always(tt.fault)})
		s := askStream(t.Context(), srv.URL, finalUse, 100)
		srv.Close()
		if s.text != tt.text || s.finish != tt.finish || (s.err != nil) != tt.broken {
			t.Errorf("%s: %+v", tt.fault, s)
		}
		if tt.last != "" && !strings.Contains(s.events[len(s.events)-1], tt.last) {
			t.Errorf("%s: last event %s, want %s in it", tt.fault, s.events[len(s.events)-1], tt.last)
		}
		if got := srv.Stats().Ended; !maps.Equal(got, map[string]int{tt.ended: 1}) {
			t.Errorf("%s: ended %v, want %s", tt.fault, got, tt.ended)
		}
	}
}

func always(f llmtest.Fault) func(llmtest.Request) llmtest.Fault {
	return func(llmtest.Request) llmtest.Fault { return f }
}

func TestOptionsAreRefusedOnlyWhereUsed(t *testing.T) {
	for _, tt := range []struct {
		fault   llmtest.Fault
		options string
		status  int
	}{
		{"400 stream_options", continuous, 400}, {"400 stream_options", finalUse, 400},
		{"400 stream_options", noOptions, 200},
		{"400 continuous_usage_stats", continuous, 400}, {"400 continuous_usage_stats", finalUse, 200},
		{"400 continuous_usage_stats", noOptions, 200},
		{"400 stream", continuous, 400}, {"400 stream", noOptions, 400}, {"400 max_tokens", noOptions, 400},
		{"422 seed", noOptions, 422}, {"400 temperature", noOptions, 200}, {"400 temperature", `"temperature": 1,`, 400},
		{"400 top_p", `"top_p": 1,`, 200}, {"400 top_p", `"top_p": 1, "temperature": 1,`, 400}, {"400 system", noOptions,
			200},
		{"400 stop", noOptions, 200}, {"400 stop", `"stop": ["x"],`, 400},
	} {
		srv := llmtest.NewServer(llmtest.Config{Fault: always(tt.fault)})
		s := askStream(t.Context(), srv.URL, tt.options, 100)
		srv.Close()
		want := map[llmtest.Fault]int{tt.fault: 1}
		if tt.status == 200 {
			want = map[llmtest.Fault]int{"": 1}
		}
		if s.status != tt.status || !maps.Equal(srv.Stats().Faults, want) {
			t.Errorf("%s, options %s: status %d, faults %v", tt.fault, tt.options, s.status, srv.Stats().Faults)
		}
	}
}

func TestDeparturesTellWhatWasGeneratedForNobody(t *testing.T) {
	for _, tt := range []struct {
		fault     llmtest.Fault
		maxTokens int
		sent      int
		cap       int // of Unread
	}{
		{"hang", 1 << 20, 0, 1 << 20}, {"hang first token", 1 << 20, 0, 1 << 20}, {"hang body", 1 << 20, 5, 1 << 20},
		{"hang body", 100, 5, 95}, {"hang", 100, 0, 100},
	} {
		srv := llmtest.NewServer(llmtest.Config{Reply: say(half + half), Fault: always(tt.fault), Rate: 10_000})
		arrived := func(s llmtest.Stats) bool { return s.InFlight == 1 && s.Sent == tt.sent }
		untilSeen(t, srv, arrived, func(ctx context.Context) { askStream(ctx, srv.URL, finalUse, tt.maxTokens) })
		srv.Drain(t.Context())
		srv.Close()
		s := srv.Stats()
		if len(s.Gone) != 1 || s.Ended["left"] != 1 {
			t.Fatalf("%s: %+v", tt.fault, s)
		}
		d := s.Gone[0]
		want := min(int(10_000*d.Idle.Seconds()), tt.cap)
		if d.Streamed != tt.sent || d.Idle <= 0 || d.Idle > d.After || d.Unread != want || s.Unread != want {
			t.Errorf("%s with at most %d tokens: %+v", tt.fault, tt.maxTokens, d)
		}
	}
}

// untilSeen calls ask with a context that ends 100 ms after the server has seen what it is to see.
func untilSeen(t *testing.T, srv *llmtest.Server, seen func(llmtest.Stats) bool, ask func(context.Context)) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		for !seen(srv.Stats()) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
		leave()
	})
	ask(ctx)
	leave()
	watch.Wait()
}

func askAndForget(ctx context.Context, t *testing.T, url string, stream bool) {
	t.Helper()
	body := fmt.Sprintf(`{"stream": %v, "messages": [{"role": "user", "content": "hello"}]}`, stream)
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func TestDripIsSlow(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Reply: say(half), Fault: always("drip"), Drip: 20 * time.Millisecond})
	defer srv.Close()
	start := time.Now()
	if s := askStream(t.Context(), srv.URL, noOptions, 100); s.text != half || time.Since(start) < 80*time.Millisecond {
		t.Errorf("%+v after %v", s, time.Since(start))
	}
	start = time.Now()
	if status, text := ask(srv.URL, "hello", 1); status != 200 || text != half || time.Since(start) < time.Second {
		t.Errorf("in one piece: %d %q after %v", status, text, time.Since(start)) // some 200 bytes, four at a time
	}
}

func TestStopBreaksOffAndStartServesAgain(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Reply: say(half), Fault: llmtest.Must("hang body:4"), PrefixCache: 100})
	defer srv.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if s := askStream(t.Context(), srv.URL, finalUse, 100); s.err == nil {
				t.Errorf("%+v, want a broken connection", s)
			}
		})
	}
	for srv.Stats().InFlight < 4 {
		time.Sleep(time.Millisecond)
	}
	srv.Stop()
	wg.Wait()
	srv.Stop() // again does nothing
	if s := askStream(t.Context(), srv.URL, finalUse, 100); s.err == nil {
		t.Error("a stopped server answers")
	}
	if err := errors.Join(srv.Start(), srv.Start()); err != nil {
		t.Fatal(err)
	}
	if s := askStream(t.Context(), srv.URL, finalUse, 100); s.text != half {
		t.Errorf("after the start: %+v", s)
	}
	if err := srv.Restart(); err != nil {
		t.Fatal(err)
	}
	s := srv.Stats()
	if want := map[string]int{"broken off": 4, "answered": 1}; !maps.Equal(s.Ended, want) || len(s.Gone) != 0 {
		t.Errorf("ended %v, gone %v; want %v", s.Ended, s.Gone, want)
	}
}

func TestRestartForgetsTheCache(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{PrefixCache: 100})
	defer srv.Close()
	for i, want := range []int{0, 48, 48} {
		ask(srv.URL, strings.Repeat("abcd", 50), 1)
		if got := srv.Stats().Tokens.CachedTokens; got != want {
			t.Errorf("request %d: %d tokens cached so far, want %d", i, got, want)
		}
		if i == 1 {
			if err := srv.Restart(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestEveryFaultIsListedOnceAndHasAWayToEnd(t *testing.T) {
	seen := map[llmtest.Fault]bool{"": true}
	for _, f := range llmtest.Faults() {
		if seen[f] {
			t.Errorf("%q is listed twice", f)
		}
		seen[f] = true
		srv := llmtest.NewServer(llmtest.Config{Reply: say(half), Fault: always(f), Drip: time.Millisecond})
		for i, stream := range []bool{true, false} {
			arrived := func(s llmtest.Stats) bool { return s.Calls == i+1 }
			untilSeen(t, srv, arrived, func(ctx context.Context) { askAndForget(ctx, t, srv.URL, stream) })
		}
		srv.Drain(t.Context())
		srv.Close()
		s := srv.Stats()
		n := 0
		for _, k := range s.Ended {
			n += k
		}
		want := 2
		if f == "close after stream" { // which loses the second request, as it comes on the same connection
			want = 1
		}
		if s.Calls != want || n != want || s.InFlight != 0 {
			t.Errorf("%s: %+v", f, s)
		}
	}
}

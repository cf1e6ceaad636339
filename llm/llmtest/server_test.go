package llmtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

func post(t *testing.T, srv *llmtest.Server, key, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

const hello = `{"model": "m", "seed": 3, "temperature": 0.5, "messages": [{"role": "system", "content": "%s"}, {"role": "user", "content": "hello"}]}`

func TestProtocol(t *testing.T) {
	var got llmtest.Request
	srv := llmtest.NewServer(llmtest.Config{Key: "k", Reply: func(r llmtest.Request) string { got = r; return "four" }})
	defer srv.Close()
	resp, body := post(t, srv, "k", fmt.Sprintf(hello, strings.Repeat("abcd", 40)))
	var c struct {
		Object, Model string
		Choices       []struct {
			Message      llm.Message
			FinishReason string `json:"finish_reason"`
		}
		Usage json.RawMessage
	}
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if resp.StatusCode != 200 || c.Object != "chat.completion" || c.Model != "m" || len(c.Choices) != 1 ||
		!cmp.Equal(c.Choices[0].Message, llm.Message{Role: "assistant", Content: "four"}) ||
		c.Choices[0].FinishReason != "stop" {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	// 160 bytes of system message: 40 tokens, two whole blocks of 16 of them cached; 5 bytes of user's: 2.
	if want := `{"prompt_tokens":42,"completion_tokens":1,"total_tokens":43,"prompt_tokens_details":{"cached_tokens":32}}`; string(c.Usage) != want {
		t.Errorf("usage %s, want %s", c.Usage, want)
	}
	if got.Seed != 3 || got.Model != "m" || *got.Temperature != 0.5 || got.MaxTokens != nil || len(got.Messages) != 2 {
		t.Errorf("request %+v", got)
	}
}

func TestRefusals(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Key: "k"})
	defer srv.Close()
	for _, tt := range []struct {
		reason, key, body string
		status            int
	}{
		{"a wrong key", "x", fmt.Sprintf(hello, "s"), 401},
		{"not JSON", "k", "{", 400},
		{"more than JSON", "k", fmt.Sprintf(hello, "s") + "}", 400},
		{"no messages", "k", `{"seed": 1}`, 400},
		{"a seed that is none", "k", `{"seed": -1, "messages": [{"role": "user", "content": "hi"}]}`, 400},
	} {
		resp, body := post(t, srv, tt.key, tt.body)
		if resp.StatusCode != tt.status || !strings.HasPrefix(body, `{"error":{`) {
			t.Errorf("%s: %d %s", tt.reason, resp.StatusCode, body)
		}
	}
}

func TestOccurrenceCountsRetriesOfTheSameRequest(t *testing.T) {
	var mu sync.Mutex
	var got []string
	srv := llmtest.NewServer(llmtest.Config{Fault: func(r llmtest.Request) llmtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%d:%d", r.Ordinal, r.Occurrence))
		return ""
	}})
	defer srv.Close()
	for _, system := range []string{"a", "a", "b", "a"} {
		post(t, srv, "", fmt.Sprintf(hello, system))
	}
	if want := []string{"0:0", "1:1", "2:0", "3:2"}; !slices.Equal(got, want) {
		t.Errorf("ordinal:occurrence %v, want %v", got, want)
	}
}

func TestEqualRunsGetEqualBodies(t *testing.T) {
	run := func() (bodies []string) {
		srv := llmtest.NewServer(llmtest.Config{Fault: llmtest.Must("50% malformed JSON|503|no choices")})
		defer srv.Close()
		for i := range 20 {
			resp, body := post(t, srv, "", fmt.Sprintf(hello, strings.Repeat("a", i/2)))
			bodies = append(bodies, fmt.Sprint(resp.StatusCode, body))
		}
		return bodies
	}
	if a, b := run(), run(); !slices.Equal(a, b) {
		t.Errorf("%q\nthen %q", a, b)
	}
}

// Of n draws, about half lie below the median, and the logarithm's deviation is Sigma. The standard
// errors are 0.5/√n and Sigma/√(2n); the tolerance is five of them.
func TestLogNormalHasItsMedianAndSigma(t *testing.T) {
	const n = 20000
	l := llmtest.LogNormal{Median: 200 * time.Millisecond, Sigma: 1}
	r := rand.New(rand.NewPCG(1, 2))
	below, squares := 0, 0.0
	for range n {
		x := math.Log(float64(l.Draw(r)) / float64(l.Median))
		if squares += x * x; x < 0 {
			below++
		}
	}
	if d := math.Abs(float64(below)/n - 0.5); d > 5*0.5/math.Sqrt(n) {
		t.Errorf("%d of %d below the median", below, n)
	}
	if sd := math.Sqrt(squares / n); math.Abs(sd-1) > 5/math.Sqrt(2*n) {
		t.Errorf("sigma %v, want 1", sd)
	}
	l.Cap = 300 * time.Millisecond
	for range 1000 {
		if d := l.Draw(r); d <= 0 || d > l.Cap {
			t.Fatalf("%v beyond the cap", d)
		}
	}
	l = llmtest.LogNormal{Median: time.Hour, Sigma: 1e6}
	for range 100 {
		if d := l.Draw(r); d < 0 {
			t.Fatalf("%v: overflow", d)
		}
	}
}

func TestBusyOverHTTP(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Latency: llmtest.Constant(50 * time.Millisecond)})
	defer srv.Close()
	var wg sync.WaitGroup
	for range 4 { // four clients, each always waiting for one answer
		wg.Go(func() {
			for seed := range 5 {
				ask(srv.URL, "hello", seed)
			}
		})
	}
	wg.Wait()
	s := srv.Stats()
	if s.Calls != 20 || s.InFlight != 0 || s.MaxInFlight > 4 || s.Latency != time.Second || s.Held < s.Latency {
		t.Errorf("%+v", s)
	}
	if b := srv.Busy(); b <= 0 || b > 4 || b != s.Busy {
		t.Errorf("busy %v, want above 0 and at most 4", b)
	}
}

func TestStatsFromAnotherProcess(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Fault: llmtest.Must("503:1")})
	defer srv.Close()
	ask(srv.URL, "hello", 1)
	resp, err := http.Get(srv.URL + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var s llmtest.Stats
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Calls != 1 || s.Faults["503"] != 1 {
		t.Errorf("%+v", s)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	srv := llmtest.NewServer(llmtest.Config{Fault: func(llmtest.Request) llmtest.Fault { return "hang" }})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if status, text := ask(srv.URL, "hello", 1); status != 0 {
				t.Errorf("%d %s from a request that hangs", status, text)
			}
		})
	}
	for srv.Stats().InFlight < 8 {
		time.Sleep(time.Millisecond)
	}
	srv.Close()
	wg.Wait()
	srv.Close()
	if s := srv.Stats(); s.InFlight != 0 || len(s.Gone) != 0 || s.Faults["hang"] != 8 {
		t.Errorf("%+v: nobody left of their own accord", s)
	}
	http.DefaultClient.CloseIdleConnections()
	for range 6000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("goroutines: %d before, %d after", before, runtime.NumGoroutine())
}

func TestLatencyCountsFromArrival(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{
		Latency: llmtest.Constant(300 * time.Millisecond),
		Reply:   func(llmtest.Request) string { time.Sleep(200 * time.Millisecond); return "slow to write" },
	})
	defer srv.Close()
	ask(srv.URL, "hello", 1)
	if held := srv.Stats().Held; held < 300*time.Millisecond {
		t.Errorf("held %v, want at least the latency", held)
	}
}

func TestAddressInUsePanics(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{})
	defer srv.Close()
	defer func() {
		if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "llmtest: listening on") {
			t.Errorf("panic %q", s)
		}
	}()
	llmtest.NewServer(llmtest.Config{Addr: strings.TrimSuffix(strings.TrimPrefix(srv.URL, "http://"), "/v1")})
}

func TestDrainOfAnIdleServer(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{})
	defer srv.Close()
	if err := srv.Drain(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestPrefixCacheIsReportedAndSummed(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{PrefixCache: 100,
		Usage: func(req llmtest.Request, reply string) llmtest.Usage {
			return llmtest.Usage{PromptTokens: 1000, CachedTokens: 999, CompletionTokens: 7}
		}})
	defer srv.Close()
	for _, want := range []string{`"cached_tokens":0`, `"cached_tokens":32`} {
		if _, body := post(t, srv, "", fmt.Sprintf(hello, strings.Repeat("abcd", 40))); !strings.Contains(body, want) {
			t.Errorf("want %s in %s", want, body)
		}
	}
	if got, want := srv.Stats().Tokens, (llmtest.Usage{PromptTokens: 2000, CachedTokens: 32,
		CompletionTokens: 14}); got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
}

package view

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval/js"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// fast is the pace of a server in a test that waits for what a server does in its own time.
var fast = pace{write: 500 * time.Millisecond, beat: 50 * time.Millisecond, between: 10 * time.Millisecond,
	scan: 20 * time.Millisecond, idle: time.Hour}

// generous is how long a test waits for what must happen, on a machine that does much else.
const generous = 5 * time.Minute

// A bench is a real run of a bandit over greedy searches, on a stand-in model.
type bench struct {
	calls, arms int
	latency     time.Duration
	observe     func(evolve.Event)
}

// run makes the run with a journal at path, or goes on with it.
func (b bench) run(ctx context.Context, t testing.TB, path string) *evolve.Result {
	t.Helper()
	arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: circles(t), LLM: standIn(t, b.latency), N: 8, Seed: 40},
		b.arms)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"search": "cp"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	result, err := evolve.Run(ctx, evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: b.calls}, Journal: j, Observer: b.observe})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// circles is a real task.
func circles(t testing.TB) task.Task {
	t.Helper()
	runner, err := js.New(js.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cp, err := geometry.CirclePacking().Task(runner, "javascript")
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

// standIn is a model that needs no network, with a limit on its calls.
func standIn(t testing.TB, latency time.Duration) llm.LLM {
	t.Helper()
	model, err := offline.New(offline.Config{Latency: latency})
	if err != nil {
		t.Fatal(err)
	}
	return llm.Limit(model, 8)
}

// finished returns the path of the journal of a small run that is over.
func finished(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.journal")
	bench{calls: 24, arms: 2}.run(t.Context(), t, path)
	return path
}

// serving returns a Server that listens and shows what is at paths. It is closed with the test.
func serving(t testing.TB, cfg ServerConfig, paths ...string) *Server {
	t.Helper()
	s, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, p := range paths {
		if err := s.Follow(p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Listen(""); err != nil {
		t.Fatal(err)
	}
	return s
}

// base returns the address of the page without its token, and the token.
func base(t testing.TB, s *Server) (address, token string) {
	t.Helper()
	address, token, found := strings.Cut(s.URL(), "/#token=")
	if !found || len(token) != tokenDigits {
		t.Fatalf("the link is %q, want a token of %d digits in its fragment", s.URL(), tokenDigits)
	}
	return address, token
}

// client makes a connection for each request, so that no test leaves one open.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// request returns a request that a page of s may make.
func request(t testing.TB, s *Server, path string) *http.Request {
	t.Helper()
	address, token := base(t, s)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// get returns the answer to a request that a page of s may make.
func get(t testing.TB, s *Server, path string) (status int, body []byte, h http.Header) {
	t.Helper()
	return answer(t, request(t, s, path))
}

func answer(t testing.TB, r *http.Request) (status int, body []byte, h http.Header) {
	t.Helper()
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err = io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, body, a.Header
}

// only returns the ID of the one run of s.
func only(t testing.TB, s *Server) string {
	t.Helper()
	all := s.all()
	if len(all) != 1 {
		t.Fatalf("%d runs are shown, want 1", len(all))
	}
	return url.QueryEscape(all[0].id)
}

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(generous); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", generous, what)
		}
	}
}

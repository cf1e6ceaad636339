// Package llmtest is an HTTP server that speaks the chat-completions protocol without a model, for tests and trials of
// clients. It answers after a chosen latency, fails in chosen ways, reports usage with cached tokens, and counts calls,
// requests in flight over time, tokens, and clients that left.
//
//	srv := llmtest.NewServer(llmtest.Config{Latency: llmtest.Constant(50 * time.Millisecond)})
//	defer srv.Close()
//	client, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model})
//
// All chance is addressed by the request's seed and content, so that a rerun meets the same latencies and faults in any
// order of arrival. The package does not import testing, so benchmarks, examples and other programs can run the server.
// It answers POST URL/chat/completions, and GET URL/stats with its [Stats] as JSON, for clients in other processes.
package llmtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A Config configures a [Server]. Many goroutines call its functions at once.
type Config struct {
	// Addr is the address to listen on; "" means a free port of the loopback interface.
	Addr string
	// Key is the required API key; "" means none.
	Key string
	// Reply writes the answer; nil means Echo(nil). It is called when the request arrives.
	Reply func(Request) string
	// Calls are the calls of tools in the answer to a request with tools, before which Reply's text stands. Calls without
	// an ID get one. nil means none.
	Calls func(Request) []llm.ToolCall
	// Reasoning writes the model's reasoning, which is sent as reasoning_content and counts as completion tokens; nil
	// means none.
	Reasoning func(Request) string
	// Latency is the time from a request's arrival to its answer; nil means at once.
	Latency Latency
	// FirstToken is the time from a request's arrival to the first token of a streamed answer; nil means Latency.
	FirstToken Latency
	// Rate is the tokens a second of a streamed answer, each in a chunk of its own. 0 means as fast as possible.
	Rate float64
	// Drip is the time between two tokens under the fault of that name; 0 means a second.
	Drip time.Duration
	// Usage counts the tokens of a request, its reasoning and its answer with the names and arguments of its calls; nil
	// means CountUsage.
	Usage func(req Request, reply string) Usage
	// Fault returns the fault of a request, see [Must]; nil means none.
	Fault func(Request) Fault
	// RetryAfter is the wait that "429 retry-after" and "429 retry-after date" ask for; 0 means a second.
	RetryAfter time.Duration
	// PrefixCache is the size of a simulated prefix cache in blocks of 16 tokens. The server then reports as cached the
	// prompt's leading blocks that earlier requests brought and that were not evicted since, instead of the cached tokens
	// of Usage. Like vLLM's, the cache evicts the least recently used blocks, and always computes a prompt's last token. 0
	// means no simulation.
	PrefixCache int
}

func (c Config) withDefaults() Config {
	c.Addr = cmp.Or(c.Addr, "127.0.0.1:0")
	c.RetryAfter = cmp.Or(c.RetryAfter, time.Second)
	if c.Reply == nil {
		c.Reply = Echo(nil)
	}
	if c.Reasoning == nil {
		c.Reasoning = func(Request) string { return "" }
	}
	if c.Calls == nil {
		c.Calls = func(Request) []llm.ToolCall { return nil }
	}
	if c.Latency == nil {
		c.Latency = Constant(0)
	}
	if c.FirstToken == nil {
		c.FirstToken = c.Latency
	}
	c.Drip = cmp.Or(c.Drip, time.Second)
	if c.Usage == nil {
		c.Usage = CountUsage
	}
	if c.Fault == nil {
		c.Fault = func(Request) Fault { return none }
	}
	return c
}

// A Server answers chat completions until it is closed. It is safe for concurrent use.
type Server struct {
	URL string // the base URL for clients, such as http://127.0.0.1:40123/v1

	cfg   Config
	meter *meter
	cache *prefixCache // nil without Config.PrefixCache
	seen  occurrences

	mu   sync.Mutex
	life *life // nil while it is stopped
}

// NewServer starts a server. Like net/http/httptest it panics if it cannot listen.
func NewServer(cfg Config) *Server {
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, meter: newMeter()}
	if cfg.PrefixCache > 0 {
		s.cache = newPrefixCache(cfg.PrefixCache)
	}
	ln, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		panic(fmt.Sprintf("llmtest: listening on %q: %v", cfg.Addr, err))
	}
	s.cfg.Addr = ln.Addr().String()
	s.URL = "http://" + s.cfg.Addr + "/v1"
	s.life = s.begin(ln)
	return s
}

// Drain waits until no request is in flight, so that clients that left are counted. It returns ctx's error if ctx ends
// first.
func (s *Server) Drain(ctx context.Context) error { return s.meter.drain(ctx) }

// String names the server by its address.
func (s *Server) String() string { return "llmtest.Server(" + s.URL + ")" }

func (s *Server) stats(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.Stats())
}

// complete serves one chat completion.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	v := s.meter.enter()
	defer s.meter.leave(v)
	if !s.authorized(r) {
		v.Fault = badKey
		v.Fault.refuse(w, s.cfg)
		return
	}
	req, err := s.decode(w, r, v.Ordinal)
	e := &exchange{s: s, w: w, rc: http.NewResponseController(w), ctx: r.Context(), v: v, req: req}
	switch {
	case errors.Is(err, errUnread):
		v.idle = v.Arrived
		e.hang()
		return
	case err != nil:
		v.Fault = badRequest
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	v.Seed, v.Fault = req.Seed, s.cfg.Fault(req).of(req)
	if v.Fault != none && !slices.Contains(Faults(), v.Fault) {
		writeError(w, http.StatusNotImplemented, "unknown_fault", fmt.Sprintf("llmtest: no fault is called %q", v.Fault))
		return
	}
	if v.Fault.refuse(w, s.cfg) {
		return
	}
	e.answer()
}

func (s *Server) authorized(r *http.Request) bool {
	return s.cfg.Key == "" || r.Header.Get("Authorization") == "Bearer "+s.cfg.Key
}

// Package llmtest is an HTTP server that speaks the chat-completions protocol and has no model
// behind it, for tests and trials of whatever talks to one. It answers after a latency of one's
// choosing, goes wrong in chosen ways, reports usage with cached tokens, and counts what it saw:
// calls, requests in flight over time, tokens, clients that went away.
//
//	srv := llmtest.NewServer(llmtest.Config{Latency: llmtest.Constant(50 * time.Millisecond)})
//	defer srv.Close()
//	client, err := openai.New(openai.Config{BaseURL: srv.URL, Model: model})
//
// Everything random follows from the request's seed and content, so that a rerun meets the same
// latencies and faults whatever the order its requests arrive in. The server does not import
// testing: benchmarks, examples and programs of their own can run it. It answers
// POST URL/chat/completions, and GET URL/stats with its [Stats] as JSON, for clients in other
// processes.
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
)

// A Config says how a [Server] answers. Its functions are called by many goroutines at once.
type Config struct {
	// Addr is the address to listen on; "" means a free port of the loopback interface.
	Addr string
	// Key is the API key to ask for; "" means that none is needed.
	Key string
	// Reply writes the answer; nil means Echo(nil). It is called when the request arrives.
	Reply func(Request) string
	// Reasoning writes what the model thinks before it answers, which goes into reasoning_content
	// and into the completion tokens; nil means nothing.
	Reasoning func(Request) string
	// Latency is how long after its arrival a request is answered; nil means at once.
	Latency Latency
	// FirstToken is how long after the request's arrival a streamed answer begins; nil means after
	// Latency.
	FirstToken Latency
	// Rate is how many tokens of a streamed answer come in a second, each in a chunk of its own. 0
	// means that they come as fast as they can be sent.
	Rate float64
	// Drip is the time between two tokens under the fault of that name; 0 means a second.
	Drip time.Duration
	// Usage counts the tokens of a request and of its answer with what was thought before; nil
	// means CountUsage.
	Usage func(req Request, reply string) Usage
	// Fault says what goes wrong with a request, see [Must]; nil means nothing ever does.
	Fault func(Request) Fault
	// RetryAfter is what "429 retry-after" and "429 retry-after date" ask for; 0 means a second.
	RetryAfter time.Duration
	// PrefixCache is how many blocks of 16 tokens the server's simulated prefix cache holds: the
	// cached tokens that it reports are then those of the prompt's leading blocks which earlier
	// requests brought and which were not evicted since, instead of what Usage says. Like vLLM's
	// it evicts the least recently used, and always computes a prompt's last token. 0 means no
	// simulation.
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
	URL string // the base URL to give to a client, such as http://127.0.0.1:40123/v1

	cfg   Config
	meter *meter
	cache *prefixCache // nil unless Config.PrefixCache asks for one
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

// Drain waits until no request is in flight: a client that went away is in the counts then. It
// returns ctx's error if that ends first.
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

// Package gateway is a loopback HTTP server in front of an [llm.LLM], for agents that are programs of their own. It
// speaks OpenAI's chat completions and responses and Anthropic's messages, streamed and whole, with tools.
//
//	g, err := gateway.Listen(gateway.Config{})
//	...
//	s := g.Open(gateway.SessionConfig{Ask: ask, Model: "qwen3-8b"})
//	defer s.Close()
//	cmd.Env = append(cmd.Env, s.Env()...)
//
// A base URL and the token of one session are all that an agent gets. Each of its requests goes through the session's
// Ask, so through the budget, the journal and the retries behind it, and no key of an endpoint is in this package.
//
// # Requests that come twice
//
// A client that gave up waiting sends its request again. While the first one is under way, or was answered when its
// client had left, a request for the same gets the same answer, in whatever dialect, and Ask is not called again.
//
// # Errors
//
// A failure of the model that may pass is a status that clients retry: 429, or 529 in Anthropic's dialect and 503 in
// OpenAI's. So is that of a session with too many calls under way, 429. All others are final: 400 for what the request
// asks, 401 without a token, 403 for a session that has ended or a refusal of Ask, such as a budget that is spent. They
// have the header X-Should-Retry: false. No answer repeats the text of an error, which could hold a secret.
package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// A Config configures a [Gateway].
type Config struct {
	// Socket is the path of a Unix socket to listen on, for a sandbox without network. The file is made, readable by its
	// owner alone, and removed by Close. "" means a free port of 127.0.0.1.
	Socket string

	bounds bounds
}

// bounds protect a gateway from what runs behind it. What is 0 has its default; tests set less.
type bounds struct {
	body     int64         // bytes of a request; 0 means 8 MiB
	patience time.Duration // for a client to send a request, and to take in a piece of its answer; 0 means 30 seconds
	// ping is the time between two signs of life in a stream while the model writes. Before the first one, an error has a
	// status of its own. 0 means 10 seconds.
	ping time.Duration
}

func (b bounds) filled() bounds {
	return bounds{cmp.Or(b.body, 8<<20), cmp.Or(b.patience, 30*time.Second), cmp.Or(b.ping, 10*time.Second)}
}

// A Gateway listens until it is closed. A body of a request has at most 8 MiB, 100,000 objects, arrays and commas, and
// a depth of 64. It is safe for concurrent use.
type Gateway struct {
	cfg     Config
	base    string
	http    *http.Server
	served  sync.WaitGroup
	parsing chan struct{} // has an element for each body that is parsed, which takes several times its length in memory

	mu       sync.Mutex
	sessions map[digest]*Session // nil for one that was closed
}

// Listen starts a gateway without sessions.
func Listen(cfg Config) (*Gateway, error) {
	cfg.bounds = cfg.bounds.filled()
	ln, base, err := listen(cfg.Socket)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g := &Gateway{cfg: cfg, base: base, parsing: make(chan struct{}, 2), sessions: make(map[digest]*Session)}
	g.http = &http.Server{
		Handler:           http.HandlerFunc(g.serve),
		ReadHeaderTimeout: cfg.bounds.patience,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	g.served.Go(func() { g.http.Serve(ln) })
	return g, nil
}

// listen listens on the socket at path, or on loopback, and returns the base URL.
func listen(path string) (net.Listener, string, error) {
	if path == "" {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, "", err
		}
		return ln, "http://" + ln.Addr().String(), nil
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, "", errors.Join(err, ln.Close())
	}
	return ln, "http://localhost", nil
}

// Close closes all sessions, and returns when nothing of theirs is under way.
func (g *Gateway) Close() error {
	err := g.http.Close()
	g.served.Wait()
	g.mu.Lock()
	var open []*Session
	for _, s := range g.sessions {
		if s != nil {
			open = append(open, s)
		}
	}
	g.mu.Unlock()
	for _, s := range open {
		s.Close()
	}
	return err
}

// String names the gateway by its address.
func (g *Gateway) String() string { return "gateway(" + cmp.Or(g.cfg.Socket, g.base) + ")" }

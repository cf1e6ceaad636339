package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/llm"
)

// A SessionConfig says what an agent may do.
type SessionConfig struct {
	// Ask answers a request. At most Requests goroutines call it at once. Its context ends when the session is closed, and
	// not when a client leaves, since the client may ask again. An [*llm.Error] is the model's failure; any other error is
	// final for the request.
	Ask func(context.Context, llm.Request) (llm.Reply, error)
	// Model is the name that the agent sees. It may ask for any other, and gets this one. "" means "model".
	Model string
	// Requests bounds the requests that are served at once, and the calls of Ask at once; further ones wait. A call waits
	// also when its client has left: once four times Requests are under way or wait, a request that needs another is
	// refused with status 429. 0 means 32.
	Requests int
	// MaxTokens bounds the max_tokens of a request, which is lowered to it. 0 means no bound.
	MaxTokens int
	// Seed is what seeds of requests without one are derived from, so that a session that is made again asks for the same.
	Seed uint32
	// Token is the session's key, which must be hard to guess; "" means a random one.
	Token string
}

// A Session is an agent's access to a [Gateway]. It is safe for concurrent use.
type Session struct {
	g     *Gateway
	cfg   SessionConfig
	token string
	slots chan struct{}   // has an element for each request that is served
	turns chan struct{}   // has an element for each call of Ask
	ctx   context.Context // ends when the session is closed
	end   context.CancelCauseFunc
	asks  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   int               // calls that are under way or wait for their turn
	calls  map[digest]*call  // by what they ask: under way, or answered and not delivered
	seen   map[digest]uint32 // answers by what was asked
}

type digest [sha256.Size]byte

// A call is a call of Ask, for which clients wait.
type call struct {
	key     digest
	number  uint32        // answers to the same request before it
	done    chan struct{} // closed when reply and err are there
	reply   llm.Reply
	err     error
	waiters int // guarded by the session's mu
}

var (
	errClosed = errors.New("gateway: the session has ended")
	errBusy   = errors.New("gateway: too many calls of the session are under way")
)

// Open begins a session. It panics without an Ask.
func (g *Gateway) Open(cfg SessionConfig) *Session {
	if cfg.Ask == nil {
		panic("gateway: SessionConfig.Ask is nil")
	}
	cfg.Model = cmp.Or(cfg.Model, "model")
	cfg.Requests = max(1, cmp.Or(cfg.Requests, 32))
	s := &Session{
		g: g, cfg: cfg, token: cmp.Or(cfg.Token, "sk-"+rand.Text()),
		slots: make(chan struct{}, cfg.Requests), turns: make(chan struct{}, cfg.Requests),
		calls: make(map[digest]*call), seen: make(map[digest]uint32),
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[sha256.Sum256([]byte(s.token))] = s
	return s
}

// BaseURL returns the URL before /v1, as clients of Anthropic's dialect want it. Those of OpenAI's want /v1 after it.
func (s *Session) BaseURL() string { return s.g.base }

// Token returns the session's key, which is good for nothing else.
func (s *Session) Token() string { return s.token }

// Env returns the variables, as NAME=value, by which common agents and SDKs find the session in either dialect.
func (s *Session) Env() []string {
	return []string{
		"OPENAI_BASE_URL=" + s.g.base + "/v1", "OPENAI_API_BASE=" + s.g.base + "/v1", "OPENAI_API_KEY=" + s.token,
		"ANTHROPIC_BASE_URL=" + s.g.base, "ANTHROPIC_API_KEY=" + s.token,
	}
}

// String names the session's gateway and model, and not its token.
func (s *Session) String() string {
	return fmt.Sprintf("gateway.Session(%s, %s)", s.g.base, s.cfg.Model)
}

// Close ends the session: calls under way are canceled, and later requests refused. It returns when no Ask runs any
// more. Closing again does nothing.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.g.mu.Lock()
	s.g.sessions[sha256.Sum256([]byte(s.token))] = nil
	s.g.mu.Unlock()
	s.end(errClosed)
	s.asks.Wait()
}

// join returns the call for what a asks: the one that is under way for it or whose answer no client got, or a new one. The
// caller must leave the call.
func (s *Session) join(a *ask) (*call, error) {
	key := digest(a.Digest())
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[key]
	switch {
	case s.closed:
		return nil, errClosed
	case c != nil:
		c.waiters++
		return c, nil
	case s.open >= 4*s.cfg.Requests:
		return nil, errBusy
	}
	c = &call{key: key, number: s.seen[key], done: make(chan struct{}), waiters: 1}
	req := a.Request
	if !a.seeded {
		req.Seed = s.seed(c.number)
	}
	s.open++
	s.calls[key] = c
	s.asks.Go(func() { s.run(c, req) })
	return c, nil
}

// seed returns the seed for a request that was answered n times before, whatever other requests there were.
func (s *Session) seed(n uint32) uint32 {
	var b [8]byte
	binary.BigEndian.PutUint32(b[:], s.cfg.Seed)
	binary.BigEndian.PutUint32(b[4:], n)
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint32(sum[:])
}

// run calls Ask for c when that is its turn. A failure is not kept for clients that ask again.
func (s *Session) run(c *call, req llm.Request) {
	defer func() {
		if p := recover(); p != nil {
			c.err = fmt.Errorf("gateway: Ask panicked: %v", p)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		if c.err != nil {
			delete(s.calls, c.key)
		} else {
			s.seen[c.key]++
		}
		close(c.done)
	}()
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-s.ctx.Done():
	}
	if s.ctx.Err() != nil {
		c.err = errClosed
		return
	}
	c.reply, c.err = s.cfg.Ask(s.ctx, req)
	if c.err != nil && s.ctx.Err() != nil {
		c.err = errClosed
	}
}

// leave ends the wait of a client of c, and forgets c if its answer was delivered.
func (s *Session) leave(c *call, delivered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.waiters--
	if delivered && s.calls[c.key] == c {
		delete(s.calls, c.key)
	}
}

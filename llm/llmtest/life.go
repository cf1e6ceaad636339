package llmtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// errStopped is the cause of a request's context if the server broke off the request.
var errStopped = errors.New("llmtest: the server was stopped")

// A life is a server from its start to its stop.
type life struct {
	http   *http.Server
	stop   context.CancelCauseFunc // ends all requests
	served sync.WaitGroup
}

// begin serves on ln.
func (s *Server) begin(ln net.Listener) *life {
	ctx, stop := context.WithCancelCause(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/stats", s.stats)
	l := &life{stop: stop, http: &http.Server{
		Handler:           mux,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
	}}
	l.served.Go(func() { l.http.Serve(ln) })
	return l
}

// Stop makes the server disappear as if its process had been killed: it refuses connections, and breaks off requests in
// flight. Stop returns when no handler runs any more. Counts stay readable. Stopping again does nothing.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life == nil {
		return
	}
	s.life.stop(errStopped) // first, so that no client seems to have left of its own accord
	s.life.http.Close()
	s.life.served.Wait()
	s.Drain(context.Background())
	s.life = nil
}

// Start listens again, on the same address, after a Stop, with an empty prefix cache. It does nothing if the server is
// running.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life != nil {
		return nil
	}
	ln, err := net.Listen("tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("llmtest: listening on %q again: %w", s.cfg.Addr, err)
	}
	if s.cache != nil {
		s.cache.clear()
	}
	s.life = s.begin(ln)
	return nil
}

// Restart is Stop followed by Start.
func (s *Server) Restart() error {
	s.Stop()
	return s.Start()
}

// Close is Stop, to be deferred.
func (s *Server) Close() { s.Stop() }

// stopped reports whether ctx, a request's, ended because the server was stopped.
func stopped(ctx context.Context) bool { return context.Cause(ctx) == errStopped }

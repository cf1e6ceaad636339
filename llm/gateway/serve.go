package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// An ask is a request in neither dialect.
type ask struct {
	llm.Request
	seeded bool // whether the client gave a seed
	stream bool // whether the answer is streamed
	usage  bool // whether the stream ends with usage, in OpenAI's dialect
	single bool // whether at most one tool may be called
}

// A dialect is a protocol of clients.
type dialect interface {
	// parse reads a request. Its error, a *failure, says what of it cannot be had.
	parse(body []byte) (*ask, error)
	// whole is the body of an answer in one piece.
	whole(answer) any
	// alive writes a sign of life into a stream, its first if first. Of the answer, ID and model are known.
	alive(s *stream, a answer, first bool)
	// events writes an answer into a stream, in which there were signs of life or not.
	events(s *stream, a answer, alive bool)
	// broken ends a stream by an error.
	broken(s *stream, f *failure)
	// overloaded is the status of a failure that may pass.
	overloaded() int
}

// serve serves every request that has a token, which no page in a browser has. A client that is refused has the same time
// as others to send its body and to take in the answer.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	g.renew(w)
	if r.ContentLength != 0 { // until the body is read
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.cfg.bounds.patience))
		w.Header().Set("Connection", "close")
	}
	path := "/" + strings.Trim(strings.ReplaceAll(r.URL.Path, "/v1", ""), "/")
	var d dialect = chat{}
	switch {
	case strings.HasPrefix(path, "/messages"):
		d = messages{}
	case path == "/responses":
		d = responses{}
	}
	s, err := g.session(r)
	if err != nil {
		g.refuse(w, d, err)
		return
	}
	route := r.Method + " " + path
	switch {
	case route == "GET /models":
		g.writeJSON(w, s.models())
	case strings.HasPrefix(route, "GET /models/"):
		g.writeJSON(w, s.model())
	case route == "POST /chat/completions", route == "POST /responses", route == "POST /messages",
		route == "POST /messages/count_tokens":
		s.answer(w, r, d, strings.HasSuffix(path, "count_tokens"))
	default:
		g.refuse(w, d, &failure{status: http.StatusNotFound, kind: "not_found_error",
			message: "not served: " + route + "; there are POST /v1/chat/completions, /v1/responses and /v1/messages, and GET /v1/models"})
	}
}

// session returns the session whose token r has.
func (g *Gateway) session(r *http.Request) (*Session, error) {
	token := r.Header.Get("X-Api-Key")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	sum := digest(sha256.Sum256([]byte(token)))
	g.mu.Lock()
	s, known := g.sessions[sum]
	g.mu.Unlock()
	switch {
	case !known: // the time that it takes tells of the token's digest alone
		return nil, &failure{status: http.StatusUnauthorized, kind: "authentication_error", code: "invalid_api_key",
			message: "no session has this token"}
	case s == nil:
		return nil, forbidden("the session has ended")
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
		return nil, forbidden("no session has this token")
	}
	return s, nil
}

// answer serves a request for an answer, or for the count of its tokens.
func (s *Session) answer(w http.ResponseWriter, r *http.Request, d dialect, count bool) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done():
		return
	case <-s.ctx.Done():
		s.g.refuse(w, d, errClosed)
		return
	}
	a, err := s.read(w, r, d)
	if err != nil {
		s.g.refuse(w, d, err)
		return
	}
	if count {
		s.g.writeJSON(w, map[string]int{"input_tokens": tokensOf(a.Request)})
		return
	}
	c, err := s.join(a)
	if err != nil {
		s.g.refuse(w, d, err)
		return
	}
	out := &stream{w: w, rc: http.NewResponseController(w), patience: s.g.cfg.bounds.patience}
	s.leave(c, s.deliver(r.Context(), out, d, a, c))
}

// read reads the body of r in the time that a client has, and returns what it asks.
func (s *Session) read(w http.ResponseWriter, r *http.Request, d dialect) (*ask, error) {
	if r.Header.Get("Content-Encoding") != "" {
		return nil, invalid("compressed requests are not read")
	}
	s.g.renew(w) // which may be told to go on
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(s.g.cfg.bounds.patience))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.g.cfg.bounds.body))
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &failure{status: http.StatusRequestEntityTooLarge, kind: "request_too_large",
			message: "the request is longer than " + itoa(int(tooLong.Limit)) + " bytes"}
	}
	if err != nil {
		return nil, invalid("the request did not arrive")
	}
	rc.SetReadDeadline(time.Time{})
	w.Header().Del("Connection")
	return s.parse(r.Context(), d, body)
}

// parse parses body when that is its turn, which a client that leaves does not wait for.
func (s *Session) parse(ctx context.Context, d dialect, body []byte) (*ask, error) {
	select {
	case s.g.parsing <- struct{}{}:
		defer func() { <-s.g.parsing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ctx.Done():
		return nil, errClosed
	}
	a, err := d.parse(body)
	if err != nil {
		return nil, err
	}
	switch {
	case len(a.Messages) == 0:
		return nil, invalid("messages: at least one is needed")
	case a.MaxTokens != nil && *a.MaxTokens < 1:
		return nil, invalid("max_tokens: at least 1 is needed")
	case s.cfg.MaxTokens > 0 && a.MaxTokens != nil && *a.MaxTokens > s.cfg.MaxTokens:
		most := s.cfg.MaxTokens
		a.MaxTokens = &most
	}
	return a, nil
}

// deliver waits for c and writes its answer. It reports whether the client got it.
func (s *Session) deliver(ctx context.Context, out *stream, d dialect, a *ask, c *call) bool {
	alive := s.await(ctx, out, d, a, c)
	if ctx.Err() != nil || out.err != nil {
		return false
	}
	err := errClosed
	select {
	case <-c.done:
		err = c.err
	default:
	}
	switch {
	case err != nil && alive:
		d.broken(out, failureOf(err))
	case err != nil:
		s.g.refuse(out.w, d, err)
	case a.stream:
		d.events(out, s.answerOf(a, c), alive)
	default:
		body, _ := json.Marshal(d.whole(s.answerOf(a, c))) // of strings and numbers
		out.w.Header().Set("Content-Type", "application/json")
		out.write(body)
	}
	out.flush()
	return out.err == nil && ctx.Err() == nil
}

// await waits until c is done, the client left or the session is closed, with signs of life in a stream. It reports
// whether the stream has begun.
func (s *Session) await(ctx context.Context, out *stream, d dialect, a *ask, c *call) (alive bool) {
	ticker := time.NewTicker(s.g.cfg.bounds.ping)
	defer ticker.Stop()
	for {
		select {
		case <-c.done:
			return alive
		case <-ctx.Done():
			return alive
		case <-s.ctx.Done():
			return alive
		case <-ticker.C:
			if !a.stream {
				continue
			}
			d.alive(out, s.begun(c), !alive)
			alive = true
			if out.flush(); out.err != nil {
				return alive
			}
		}
	}
}

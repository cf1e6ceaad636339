package llmtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// An exchange is one request that is being answered.
type exchange struct {
	s   *Server
	w   http.ResponseWriter
	rc  *http.ResponseController
	ctx context.Context
	v   *visit
	req Request
}

// errLeft means that the client has left, or the server was stopped.
var errLeft = errors.New("the client has left")

// answer waits and answers, as the fault demands.
func (e *exchange) answer() {
	latency := e.s.cfg.Latency
	if e.req.Stream {
		latency = e.s.cfg.FirstToken
	}
	wait := max(0, latency.Draw(e.req.Rand("llmtest.latency")))
	c := e.s.compose(e.req, e.v.Fault)
	e.s.meter.drew(wait)
	e.v.idle = e.v.Arrived
	if e.v.Fault == hang || !e.until(e.v.Arrived.Add(wait)) {
		e.hang()
		return
	}
	switch {
	case e.v.Fault == reset:
		e.reset()
	case e.v.Fault == htmlPage:
		e.deliver("text/html; charset=utf-8", []byte(loginPage))
	case e.req.Stream:
		e.stream(c)
	default:
		e.deliver("application/json", c.body(e.v.Fault))
	}
}

// deliver sends a body that is not streamed.
func (e *exchange) deliver(contentType string, body []byte) {
	e.w.Header().Set("Content-Type", contentType)
	e.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	half := len(body) / 2
	switch e.v.Fault {
	case hangFirst:
		half = 0
		fallthrough
	case hangBody:
		e.send(body[:half])
		e.hang()
	case cut:
		e.send(body[:half])
		e.abort()
	case resetBody:
		e.send(body[:half])
		e.reset()
	case drip:
		e.drip(body)
	default:
		e.end(e.write(body))
	}
}

// drip sends body a token at a time.
func (e *exchange) drip(body []byte) {
	for len(body) > 0 {
		n := min(4, len(body))
		if e.send(body[:n]) != nil || !e.until(time.Now().Add(e.s.cfg.Drip)) {
			e.hang()
			return
		}
		body = body[n:]
	}
	e.end(nil)
}

// send writes b through to the connection, and returns an error if the client cannot get it.
func (e *exchange) send(b []byte) error {
	if err := e.write(b); err != nil {
		return err
	}
	return e.rc.Flush()
}

func (e *exchange) write(b []byte) error {
	if e.ctx.Err() != nil {
		return errLeft
	}
	_, err := e.w.Write(b)
	return err
}

// end sends the buffered rest of the answer, unless err says that the client has left or the server was stopped. It
// counts the request first, so that a client with the whole answer finds it counted.
func (e *exchange) end(err error) {
	if err == nil && !e.v.Fault.usable() {
		e.v.ended = spoiled
		return
	}
	if err == nil {
		e.v.ended = answered
		e.s.meter.settle(e.v)
		err = e.rc.Flush()
	}
	if err != nil {
		e.s.meter.takeBack(e.v)
		e.hang()
	}
}

// until waits for t, or reports false if the client left or the server was stopped before.
func (e *exchange) until(t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return e.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.ctx.Done():
		return false
	}
}

// hang holds the request until its client leaves, and records when that was noticed, or until the server is stopped.
func (e *exchange) hang() {
	<-e.ctx.Done()
	if stopped(e.ctx) {
		e.abort()
	}
	e.s.left(e.v, e.req)
}

// abort closes the connection before the announced end of the body.
func (e *exchange) abort() {
	e.v.ended = brokenOff
	panic(http.ErrAbortHandler)
}

// close ends the answer without a word that the connection ends too, and closes it when the next request comes.
func (e *exchange) close() {
	conn, _, err := e.rc.Hijack()
	if err != nil {
		return // HTTP/2, where requests share a connection
	}
	defer conn.Close()
	defer context.AfterFunc(e.ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, "0\r\n\r\n"); err == nil {
		conn.Read(make([]byte, 1))
	}
}

// reset closes the connection so that the client sees it reset rather than ended.
func (e *exchange) reset() {
	conn, _, err := e.rc.Hijack()
	if err != nil {
		e.abort() // HTTP/2's way to break off a request
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
	e.v.ended = brokenOff
}

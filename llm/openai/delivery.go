package openai

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// A delivery records whether a request was sent. It is safe for concurrent use: the connection's goroutines report to
// it, even after the request was canceled.
type delivery struct {
	told     bool // whether the transport reports all its steps
	sought   atomic.Bool
	begun    atomic.Bool             // whether the headers are written, if only to a buffer
	answered atomic.Bool             // whether a response began
	over     atomic.Pointer[passage] // nil unless it had a counting connection
}

// A passage is a request's use of a connection.
type passage struct {
	conn   *countedConn
	before int64 // bytes written before the request
}

// newDelivery returns the delivery of a request that client will send.
func newDelivery(client *http.Client) *delivery {
	_, told := client.Transport.(*http.Transport)
	return &delivery{told: told || client.Transport == nil}
}

// watch returns ctx for the one request that d records.
func (d *delivery) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { d.sought.Store(true) },
		GotConn:              func(info httptrace.GotConnInfo) { d.got(info.Conn) },
		WroteHeaders:         func() { d.begun.Store(true) },
		GotFirstResponseByte: func() { d.answered.Store(true) },
	})
}

// got records the request's connection, if that counts its bytes. A connection under TLS is not recorded, since it
// sends bytes of its own when it is closed.
func (d *delivery) got(conn net.Conn) {
	if counted, ok := conn.(*countedConn); ok {
		d.over.Store(&passage{counted, counted.written()})
	}
}

// unsent reports, once the request has ended, whether it certainly was not sent. Counted bytes tell exactly. Otherwise
// buffered headers count as sent, and a request canceled earlier finds its connection closed. A silent transport of the
// caller's may have sent the request.
func (d *delivery) unsent() bool {
	switch p := d.over.Load(); {
	case d.answered.Load():
		return false
	case p != nil:
		return p.conn.written() == p.before
	}
	return (d.told || d.sought.Load()) && !d.begun.Load()
}

// A countedConn counts the bytes written to it.
type countedConn struct {
	net.Conn
	mu sync.Mutex
	n  int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.Conn.Write(b)
	c.n += int64(n)
	return n, err
}

// written returns the count. It waits for a write under way, which ends at once if the connection is closed.
func (c *countedConn) written() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

package openai

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// A delivery knows whether a request went out. It is safe for concurrent use: the connection's
// goroutines tell of it, also after the request has been given up.
type delivery struct {
	told     bool // the transport tells of all that it does
	sought   atomic.Bool
	begun    atomic.Bool             // its headers are written, if only to a buffer
	answered atomic.Bool             // something came back
	over     atomic.Pointer[passage] // nil unless it had a connection that counts
}

// A passage is a request's use of a connection.
type passage struct {
	conn   *countedConn
	before int64 // bytes that were written before the request
}

// newDelivery returns one for a request that client is to send.
func newDelivery(client *http.Client) *delivery {
	_, told := client.Transport.(*http.Transport)
	return &delivery{told: told || client.Transport == nil}
}

// watch returns ctx for the one request that d is to know of.
func (d *delivery) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { d.sought.Store(true) },
		GotConn:              func(info httptrace.GotConnInfo) { d.got(info.Conn) },
		WroteHeaders:         func() { d.begun.Store(true) },
		GotFirstResponseByte: func() { d.answered.Store(true) },
	})
}

// got notes the connection that the request goes out by, if it counts its bytes. One under TLS is not
// noted, as it sends bytes of its own when it is closed.
func (d *delivery) got(conn net.Conn) {
	if counted, ok := conn.(*countedConn); ok {
		d.over.Store(&passage{counted, counted.written()})
	}
}

// unsent reports, once the request has ended, whether it certainly never went out. Where bytes are counted
// that is known to the byte. Elsewhere headers that are in a buffer are taken to be sent; a request that
// was given up before finds its connection closed. A transport of the caller's own that was silent may
// have sent it.
func (d *delivery) unsent() bool {
	switch p := d.over.Load(); {
	case d.answered.Load():
		return false
	case p != nil:
		return p.conn.written() == p.before
	}
	return (d.told || d.sought.Load()) && !d.begun.Load()
}

// A countedConn counts the bytes that are written to it.
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

// written returns the count. It waits for a write that is under way, which on a connection that was
// closed is over at once.
func (c *countedConn) written() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

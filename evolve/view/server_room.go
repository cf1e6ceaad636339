package view

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds on the memory for readers.
const (
	roomBytes   = 64 << 20  // bytes of all large answers being written
	smallAnswer = 64 << 10  // bytes of an answer that needs no room
	connections = 4         // open connections per reader: a browser has several
	sendBuffer  = 128 << 10 // bytes of a connection's buffer in the system
	encoders    = 2         // answers made at once
)

// A room bounds the memory of all answers under way. An answer that does not fit is refused, and its reader asks again.
type room struct {
	encode chan struct{}
	used   atomic.Int64
}

func newRoom() *room { return &room{encode: make(chan struct{}, encoders)} }

// make makes an answer when an encoder is free.
func (r *room) make(answer func()) {
	r.encode <- struct{}{}
	defer func() { <-r.encode }()
	answer()
}

// take reserves n bytes for an answer, all of the room for a larger one, and reports whether there was room.
func (r *room) take(n int) (leave func(), ok bool) {
	if n <= smallAnswer {
		return func() {}, true
	}
	want := min(int64(n), roomBytes)
	if r.used.Add(want) > roomBytes {
		r.used.Add(-want)
		return nil, false
	}
	return func() { r.used.Add(-want) }, true
}

// A patient writer gives the reader a time limit for each piece of an answer, so a slow reader gets all of it.
type patient struct {
	w     http.ResponseWriter
	limit time.Duration
}

// piece is the number of bytes that a reader must take within the limit.
const piece = 64 << 10

// Write writes p piece by piece.
func (p patient) Write(b []byte) (n int, err error) {
	c := http.NewResponseController(p.w)
	for len(b) > 0 {
		part := b[:min(piece, len(b))]
		// Only a program's own server lacks deadlines, and then its limits apply.
		c.SetWriteDeadline(time.Now().Add(p.limit))
		k, err := p.w.Write(part)
		n += k
		if err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

// flush sends the buffered bytes, within the limit.
func (p patient) flush() error {
	c := http.NewResponseController(p.w)
	c.SetWriteDeadline(time.Now().Add(p.limit))
	return c.Flush()
}

// limit returns a listener with at most n open connections. Others wait in the system's queue.
func limit(l net.Listener, n int) net.Listener {
	return &limited{Listener: l, slots: make(chan struct{}, n), done: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots chan struct{}
	once  sync.Once
	done  chan struct{}
}

// Accept waits for a slot, and then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetWriteBuffer(sendBuffer) // for an idle reader the system would grow it to megabytes
	}
	return &slotConn{Conn: c, leave: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close ends an Accept that waits.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// A slotConn is a connection that frees its slot when it is closed.
type slotConn struct {
	net.Conn
	leave func()
}

func (c *slotConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

package view

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds on what is kept for readers.
const (
	roomBytes   = 64 << 20  // of large answers that are being written, all together
	smallAnswer = 64 << 10  // an answer up to this size needs no room
	connections = 4         // open at once, for each reader: a browser has several
	sendBuffer  = 128 << 10 // of a connection, in the system
	encoders    = 2         // answers that are made at once
)

// A room bounds the memory of answers. Those under way share it. An answer that does not fit is refused, and its reader
// asks again.
type room struct {
	encode chan struct{}
	used   atomic.Int64
}

func newRoom() *room { return &room{encode: make(chan struct{}, encoders)} }

// make makes an answer, when there is a place to make one.
func (r *room) make(answer func()) {
	r.encode <- struct{}{}
	defer func() { <-r.encode }()
	answer()
}

// take takes room for an answer of n bytes, and reports whether there was some. One that is larger than all the room has it
// to itself.
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

// A patient writer gives the reader a time for each piece of an answer. One that reads slowly gets it all, and one that does
// not read is cut off.
type patient struct {
	w     http.ResponseWriter
	limit time.Duration
}

// piece is what a reader has to take within the time.
const piece = 64 << 10

// Write writes p piece by piece.
func (p patient) Write(b []byte) (n int, err error) {
	c := http.NewResponseController(p.w)
	for len(b) > 0 {
		part := b[:min(piece, len(b))]
		// A server that has no deadlines is the program's own, and its limits count.
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

// flush sends what is written, within the time.
func (p patient) flush() error {
	c := http.NewResponseController(p.w)
	c.SetWriteDeadline(time.Now().Add(p.limit))
	return c.Flush()
}

// limit returns a listener that has at most n connections open at once. Others wait in the queue of the system.
func limit(l net.Listener, n int) net.Listener {
	return &limited{Listener: l, places: make(chan struct{}, n), done: make(chan struct{})}
}

type limited struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	done   chan struct{}
}

// Accept waits for a place, and then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetWriteBuffer(sendBuffer) // the system would grow it to megabytes for a reader that does not read
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close ends an Accept that waits.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// A placed connection gives its place up when it is closed.
type placed struct {
	net.Conn
	leave func()
}

func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// relayAddress is where contained processes find a relay, also as http://localhost: an address of their own network, in
// which nothing else is.
const relayAddress = "127.0.0.1:80"

// mostRelayed bounds the connections of a relay at once, each of which takes two descriptors of this process, and one
// more where the server is in it. Further ones wait, and beyond mostWaiting the kernel may reset them.
const (
	mostRelayed = 32
	mostWaiting = 4096
)

// A Relay gives the processes of one start a network of one socket: this process forwards TCP connections to the
// relay's address to a Unix socket. Nothing else is in their network namespace, and seccomp denies them sockets of
// other kinds than TCP over IPv4. Under [isolation.None] the address is one of this machine, which all its users can
// connect to.
type Relay struct {
	socket, address string
	inside          bool // it listens in a namespace, once the process was started

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	closed   bool
	over     chan struct{}
	workers  sync.WaitGroup
}

// CanRelay returns why there is no [Relay] here, nil if there is.
func (p *Plan) CanRelay() error {
	if p.level == isolation.None || p.missing[NetNS] == "" {
		return nil
	}
	return fmt.Errorf("sandbox: a network of one socket needs a %s, which is missing (%s): allow it, or choose "+
		"isolation %v, under which every network is open", NetNS, p.missing[NetNS], isolation.None)
}

// NewRelay returns a relay to the Unix socket at a path, for one process that is started by the plan of [Plan.Through].
// Close it when the process has ended. Where the port is one of this machine, equal numbers get the same one if it is
// free.
func (p *Plan) NewRelay(socket string, number uint64) (*Relay, error) {
	if err := p.CanRelay(); err != nil {
		return nil, err
	}
	r := &Relay{socket: socket, address: relayAddress, inside: p.level != isolation.None,
		conns: make(map[net.Conn]bool), over: make(chan struct{})}
	if r.inside {
		return r, nil
	}
	var port uint64
	if number > 0 {
		port = 20_000 + number%12_000 // below those that are handed out
	}
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil && port > 0 {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("sandbox: listening for a relay: %w", err)
	}
	r.address = l.Addr().String()
	return r, r.serve(l)
}

// Through returns a plan like p whose process finds the relay; nil changes nothing.
func (p *Plan) Through(r *Relay) *Plan {
	if r == nil {
		return p
	}
	q := *p
	q.relay = r
	return &q
}

// Address returns the host and port that processes connect to.
func (r *Relay) Address() string { return r.address }

// serve forwards the connections of l until the relay is closed.
func (r *Relay) serve(l net.Listener) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.listener != nil {
		return errors.Join(errors.New("sandbox: a relay is for one process"), l.Close())
	}
	r.listener = l
	r.workers.Go(func() { r.accept(l) })
	return nil
}

func (r *Relay) accept(l net.Listener) {
	room := make(chan struct{}, mostRelayed)
	for {
		select {
		case room <- struct{}{}:
		case <-r.over:
			return
		}
		conn, err := l.Accept()
		if err != nil {
			<-room
			select {
			case <-r.over:
				return
			case <-time.After(10 * time.Millisecond): // too many open files, perhaps
				continue
			}
		}
		r.workers.Go(func() {
			r.forward(conn)
			<-room
		})
	}
}

// forward forwards a connection. One that the socket does not take is closed.
func (r *Relay) forward(in net.Conn) {
	defer r.drop(in)
	if !r.hold(in) {
		return
	}
	out, err := net.Dial("unix", r.socket)
	if err != nil {
		return
	}
	defer r.drop(out)
	if !r.hold(out) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { r.pass(in, out) })
	r.pass(out, in)
	back.Wait()
}

// pass copies what from sends, and then closes that half of to. Where that fails both ends are of no use any more.
func (r *Relay) pass(to, from net.Conn) {
	// Without their own ways to copy, which take four descriptors more for a pipe each way.
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	half, ok := to.(interface{ CloseWrite() error })
	if err == nil && ok && half.CloseWrite() == nil {
		return
	}
	r.drop(to)
	r.drop(from)
}

// hold has Close close conn, and reports whether the relay is open.
func (r *Relay) hold(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.conns[conn] = true
	return true
}

func (r *Relay) drop(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
	_ = conn.Close() // the other end has what it read
}

// Close closes all connections, and waits until none is forwarded. It may be called again.
func (r *Relay) Close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.over)
		if r.listener != nil {
			_ = r.listener.Close() // nothing was written
		}
		for conn := range r.conns {
			_ = conn.Close()
		}
	}
	r.mu.Unlock()
	r.workers.Wait()
}

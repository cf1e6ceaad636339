package nats_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A slow is a proxy whose bytes come late. It can hold them for a while, and then passes all of them on.
type slow struct {
	to    string // URL of the server
	l     net.Listener
	late  atomic.Int64 // nanoseconds
	gate  sync.RWMutex // who has it holds what comes
	conns sync.WaitGroup
}

func newSlow(t *testing.T, url string, late time.Duration) *slow {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{to: url, l: l}
	s.late.Store(int64(late))
	var mu sync.Mutex
	var all []net.Conn
	s.conns.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", address(url))
			if err != nil {
				in.Close()
				continue
			}
			mu.Lock()
			all = append(all, in, out)
			mu.Unlock()
			s.pass(in, out)
			s.pass(out, in)
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range all {
			c.Close()
		}
		mu.Unlock()
		s.conns.Wait()
	})
	return s
}

func (s *slow) url() string { return through(s.to, s.l) }

// pass passes on one way.
func (s *slow) pass(from, to net.Conn) {
	type piece struct {
		bytes []byte
		due   time.Time
	}
	pieces := make(chan piece, 10000)
	s.conns.Go(func() {
		defer close(pieces)
		for {
			b := make([]byte, 32<<10)
			n, err := from.Read(b)
			if err != nil {
				return
			}
			pieces <- piece{b[:n], time.Now().Add(time.Duration(s.late.Load()))}
		}
	})
	s.conns.Go(func() {
		defer to.Close()
		var failed error
		for p := range pieces { // to the end, or the reader stays
			time.Sleep(time.Until(p.due))
			s.gate.RLock()
			if failed == nil {
				_, failed = to.Write(p.bytes)
			}
			s.gate.RUnlock()
		}
	})
}

// hold holds what comes for a while.
func (s *slow) hold(d time.Duration) {
	s.gate.Lock()
	defer s.gate.Unlock()
	time.Sleep(d)
}

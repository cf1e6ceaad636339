package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Defaults and bounds of a [Server].
const (
	// defaultReaders is how many pages may be open at once.
	defaultReaders = 64
	// DefaultAddr is where a Server listens: at a free port of the loopback interface, which other machines do not reach.
	DefaultAddr = "127.0.0.1:0"
)

// ServerConfig says what a [Server] shows, and to whom.
type ServerConfig struct {
	Title string // of the page; "" means "evoalloc"
	// Token is what a reader must know. It is part of the link. "" means a new random one of 128 bits. A token of the
	// program's own lets a page that is open find the server again after a restart. It must be random, and has 32
	// hexadecimal digits or more.
	Token string
	// Hosts are names under which readers may ask for the page, beside localhost and the address of the listener, such
	// as "lab.example:8000". A name that is not here is refused, because a hostile site may have its own name lead to
	// this machine.
	Hosts []string
	// Readers is how many pages may be open at once; 0 means DefaultReaders. Others are refused until one is closed.
	Readers int

	pace pace
}

// A pace is the times of a server. Tests have shorter ones.
type pace struct {
	write   time.Duration // how long a reader may take for a piece of an answer
	beat    time.Duration // between signs of life in a stream
	between time.Duration // between two words that there is more
	scan    time.Duration // between two looks at a folder
	idle    time.Duration // how long a run is kept in memory that no page asks for
}

func (c ServerConfig) withDefaults() ServerConfig {
	c.Title = cmp.Or(c.Title, "evoalloc")
	c.Readers = cmp.Or(c.Readers, defaultReaders)
	c.pace.write = cmp.Or(c.pace.write, 10*time.Second)
	c.pace.beat = cmp.Or(c.pace.beat, 15*time.Second)
	c.pace.between = cmp.Or(c.pace.between, time.Second)
	c.pace.scan = cmp.Or(c.pace.scan, 2*time.Second)
	c.pace.idle = cmp.Or(c.pace.idle, time.Minute)
	return c
}

func (c ServerConfig) validate() error {
	switch {
	case c.Token != "" && len(c.Token) < tokenDigits:
		return fmt.Errorf("view: ServerConfig.Token has %d characters: need %d random hexadecimal digits or more, or none for a new token", len(c.Token), tokenDigits)
	case c.Token != "" && !plain(c.Token):
		return errors.New("view: ServerConfig.Token has a character that a link or a header cannot hold: need hexadecimal digits")
	case c.Readers < 0:
		return fmt.Errorf("view: ServerConfig.Readers is %d: need at least 1, or 0 for the default", c.Readers)
	}
	return nil
}

// A Server shows runs while they go on, on a page that keeps itself up to date. It reads their journals ([Server.Follow]),
// so the runs may be in this process or another, going on, killed or finished. Or it is told by a run of this process
// ([Server.Observe]).
//
// [Server.Listen] serves the page to those who have the link. A program that has a server of its own uses the Server as an
// [http.Handler] there, see [Server.ServeHTTP].
//
// No reader holds a run back: a run appends to its journal whether somebody reads it or not, and what is kept for readers
// has bounds. A Server is safe for concurrent use. Close it in the end.
type Server struct {
	cfg   ServerConfig
	page  []byte // the page itself, in which there is nothing of any run
	room  *room
	mux   *http.ServeMux
	tasks sync.WaitGroup // followers, streams and loops
	done  chan struct{}  // closed by Close
	dirty chan struct{}  // has room for one word that there is more

	scanning sync.Mutex // for one scan at a time
	scanned  time.Time  // when the last one ended; of scanning

	mu      sync.Mutex // of all below
	closed  bool
	sources []source
	tabs    []*tab
	readers map[*reader]struct{}
	left    time.Time // when the last reader left
	http    *http.Server
	link    string
	served  chan error // what ended serving; nil if nothing is served
}

var _ http.Handler = (*Server)(nil)

// NewServer returns a Server that shows nothing yet.
func NewServer(cfg ServerConfig) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Token == "" {
		cfg.Token = newToken()
	}
	page, err := shell(cfg.Title)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, page: page, room: newRoom(), done: make(chan struct{}), dirty: make(chan struct{}, 1),
		readers: map[*reader]struct{}{}, left: time.Now()}
	s.mux = s.routes()
	s.tasks.Go(s.tell)
	s.tasks.Go(s.look)
	return s, nil
}

// Listen begins to serve the page at addr, such as "127.0.0.1:8000", and returns the link to it; "" means [DefaultAddr].
// An address that other machines reach is served as well, but without encryption: whoever can read the network can then
// read the token and the runs. See docs/operations.md for a way through ssh. The link to a Server at all addresses of the
// machine, such as ":8000", names localhost; from elsewhere it is one of those addresses.
func (s *Server) Listen(addr string) (link string, err error) {
	l, err := net.Listen("tcp", cmp.Or(addr, DefaultAddr))
	if err != nil {
		return "", fmt.Errorf("view: the page cannot be served: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.http != nil {
		l.Close()
		return "", errors.New("view: Listen of a Server that listens or is closed: make another")
	}
	s.http = &http.Server{
		Handler:           s.guarded(),
		ReadHeaderTimeout: s.cfg.pace.write,
		IdleTimeout:       3 * s.cfg.pace.write,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          quiet(),
	}
	s.link = "http://" + reached(l.Addr().(*net.TCPAddr)) + "/#token=" + s.cfg.Token
	s.served = make(chan error, 1)
	server, served := s.http, s.served
	s.tasks.Go(func() { served <- server.Serve(limit(l, connections*s.cfg.Readers)) })
	return s.link, nil
}

// reached returns a name under which a listener is reached. One that listens at all addresses has none of its own, but
// this machine is one of them.
func reached(at *net.TCPAddr) string {
	if at.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", at.Port)
	}
	return at.String()
}

// URL returns the link that opens the page, with its token, or "" if the Server does not listen. Whoever has it may read
// all that the Server shows.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// Close ends the streams to pages, lets other answers under way come to their end for at most the time that a reader has
// for one, and returns when everything that the Server began has ended. It fails if serving had ended before.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	server, served := s.http, s.served
	s.mu.Unlock()
	close(s.done)
	for _, t := range s.all() {
		t.drop()
	}
	var err error
	if server != nil {
		err = s.shut(server, served)
	}
	s.tasks.Wait()
	return err
}

// shut ends an HTTP server.
func (s *Server) shut(server *http.Server, served <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.pace.write)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		server.Close() // a reader that does not read
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("view: serving the page ended early: %w", err)
	}
	return nil
}

// begin runs a task that Close waits for, and reports whether the Server is still open.
func (s *Server) begin() (end func(), open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.tasks.Add(1)
	return s.tasks.Done, true
}

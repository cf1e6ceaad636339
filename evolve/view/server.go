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
	// defaultReaders is the default limit on open pages.
	defaultReaders = 64
	// DefaultAddr is where a Server listens: a free port of the loopback interface, which other machines cannot reach.
	DefaultAddr = "127.0.0.1:0"
)

// ServerConfig configures a [Server].
type ServerConfig struct {
	Title string // of the page; "" means "evoalloc"
	// Token is the secret in the link that readers must have. "" means a new random one of 128 bits. A fixed token lets an
	// open page find the server again after a restart. It must be random, of at least 32 hexadecimal digits.
	Token string
	// Hosts are names of this server, such as "lab.example:8000", beside localhost and the address of the listener.
	// Requests to other names are refused, because a hostile site could point its own name at this machine.
	Hosts []string
	// Bases are folders that programs may be changes of, as those of package tree are: the page shows their files to its
	// readers, as far as programs change them. nil means none.
	Bases []string
	// Readers bounds the open pages; 0 means 64. Further ones are refused until one is closed.
	Readers int

	pace pace
}

// A pace holds the time constants of a server. Tests use shorter ones.
type pace struct {
	write   time.Duration // longest time for a reader to take a piece of an answer
	beat    time.Duration // between signs of life in a stream
	between time.Duration // between two signals to readers
	scan    time.Duration // between two scans of a folder
	idle    time.Duration // how long a run stays in memory without a page
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
		return fmt.Errorf("view: ServerConfig.Token has %d characters: need %d random hexadecimal digits or more, or none "+
			"for a new token", len(c.Token), tokenDigits)
	case c.Token != "" && !plain(c.Token):
		return errors.New("view: ServerConfig.Token has a character that a link or a header cannot hold: need hexadecimal " +
			"digits")
	case c.Readers < 0:
		return fmt.Errorf("view: ServerConfig.Readers is %d: need at least 1, or 0 for the default", c.Readers)
	}
	return nil
}

// A Server shows runs on a page that keeps itself up to date. It reads their journals ([Server.Follow]), so the runs
// may be in this process or another, live, killed or finished.
//
// [Server.Listen] serves the page to those who have the link. A program with a server of its own can use the Server as
// an [http.Handler], see [Server.ServeHTTP].
//
// No reader slows a run: a run appends to its journal regardless of readers, and memory for readers is bounded. A
// Server is safe for concurrent use. Close it in the end.
type Server struct {
	cfg   ServerConfig
	page  []byte // the page itself, without data of any run
	bases bases
	room  *room
	mux   *http.ServeMux
	tasks sync.WaitGroup // followers, streams and loops
	done  chan struct{}  // closed by Close
	dirty chan struct{}  // has room for one signal

	scanning sync.Mutex // for one scan at a time
	scanned  time.Time  // when the last scan ended; guarded by scanning

	mu      sync.Mutex // of all below
	closed  bool
	sources []source
	tabs    []*tab
	readers map[*reader]struct{}
	left    time.Time // when the last reader left
	http    *http.Server
	link    string
	served  chan error // the error that ended serving; nil if nothing is served
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
	folders, err := readBases(cfg.Bases)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, page: page, bases: folders, room: newRoom(), done: make(chan struct{}),
		dirty:   make(chan struct{}, 1),
		readers: map[*reader]struct{}{}, left: time.Now()}
	s.mux = s.routes()
	s.tasks.Go(s.tell)
	s.tasks.Go(s.look)
	return s, nil
}

// Listen begins to serve the page at addr, such as "127.0.0.1:8000", and returns the link to it; "" means
// [DefaultAddr]. An address that other machines reach is allowed, but without encryption: anyone who can read the
// network can then read the token and the runs. See docs/operations.md for a way through ssh. The link to a Server at
// all addresses of the machine, such as ":8000", names localhost; from elsewhere it is one of those addresses.
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

// reached returns a name for a listener's address. For one that listens at all addresses it is this machine's.
func reached(at *net.TCPAddr) string {
	if at.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", at.Port)
	}
	return at.String()
}

// URL returns the link that opens the page, with its token, or "" if the Server does not listen.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// Close ends the streams to pages, gives other answers under way as long as a reader may take for one, and returns when
// all goroutines of the Server have ended. It fails if serving had ended before.
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
		server.Close() // a reader does not read
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("view: serving the page ended early: %w", err)
	}
	return nil
}

// begin registers a task that Close waits for until end is called, and reports whether the Server is still open.
func (s *Server) begin() (end func(), open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.tasks.Add(1)
	return s.tasks.Done, true
}

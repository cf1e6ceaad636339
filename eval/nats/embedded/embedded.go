// Package embedded runs a NATS server with JetStream in the process, for tests and for trying the queue on one machine.
package embedded

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config configures a [Server]. Dir is required.
type Config struct {
	// Dir is the folder of the streams and of the server's secret. A server that is started again with the same Dir finds
	// them again. Other users must not be able to write there.
	Dir string
	// Port is the port of 127.0.0.1 that the server listens on, which other machines cannot reach. 0 means any that is
	// free, and less than 0 none: only this process connects, by InProcessConn.
	Port int
	// Configure changes the options before the server starts: users, permissions, TLS. nil changes nothing. If the options
	// ask clients for neither credentials nor a certificate, the port asks them for the server's secret.
	Configure func(*server.Options)
}

// A Server is a NATS server in this process. Close it.
type Server struct {
	s      *server.Server
	secret string // that clients show, or "" if the options ask them for something else
}

// ready is how long a server may take to start. It reads its streams from the disk.
const ready = 30 * time.Second

// maxStore bounds the bytes that streams reserve when they are made, long before they need them. The server's own limit
// is three quarters of the free disk, so a run could not begin with 2 GiB free.
const maxStore = 1 << 40

// Start starts a server. Its log is not written.
func Start(cfg Config) (*Server, error) {
	if cfg.Dir == "" {
		return nil, errors.New("embedded: Config.Dir is empty: name a folder for the streams")
	}
	if cfg.Port > 65535 {
		return nil, fmt.Errorf("embedded: Config.Port is %d: need at most 65535", cfg.Port)
	}
	port := cfg.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		Host: "127.0.0.1", Port: port, StoreDir: cfg.Dir, JetStream: true,
		JetStreamMaxStore: maxStore, NoLog: true, NoSigs: true, DisableJetStreamBanner: true, DontListen: cfg.Port < 0,
	}
	if cfg.Configure != nil {
		cfg.Configure(o)
	}
	if !o.DontListen && open(o) {
		var err error
		if o.Authorization, err = secret(cfg.Dir); err != nil {
			return nil, err
		}
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(ready) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("embedded: no server at %s after %v: is the port in use, or %s by another server?",
			net.JoinHostPort(o.Host, fmt.Sprint(max(cfg.Port, 0))), ready, cfg.Dir)
	}
	return &Server{s, o.Authorization}, nil
}

// URL returns where clients connect, with the server's secret, or "" if the server has no port. Do not print it or pass
// it as an argument to a process: all users of the machine can read arguments.
func (s *Server) URL() string {
	u, err := url.Parse(s.s.ClientURL())
	if err != nil || s.Addr() == nil {
		return ""
	}
	if s.secret != "" {
		u.User = url.User(s.secret)
	}
	return u.String()
}

// Addr returns the address that the server listens on, or nil if it has no port.
func (s *Server) Addr() net.Addr { return s.s.Addr() }

// InProcessConn returns a connection from this process to the server.
func (s *Server) InProcessConn() (net.Conn, error) { return s.s.InProcessConn() }

// Close ends the server. The streams stay on the disk.
func (s *Server) Close() error {
	s.s.Shutdown()
	s.s.WaitForShutdown()
	return nil
}

// Package embedded runs a NATS server with JetStream in the process, for tests and for trying the queue on one machine.
package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config says how the server runs. Dir is needed.
type Config struct {
	// Dir is the folder of the streams. A server that is started with it again has them again.
	Dir string
	// Host is the address that the server listens on. "" means 127.0.0.1: it is not to be reached from other machines.
	Host string
	// Port is its port. 0 means any that is free.
	Port int
	// Configure changes the options before the server starts: users, permissions, TLS. nil changes nothing.
	Configure func(*server.Options)
}

// A Server is a NATS server in this process. Close it.
type Server struct{ s *server.Server }

// ready is how long a server may take to start. It reads its streams from the disk.
const ready = 30 * time.Second

// maxStore is how many bytes streams may reserve. They do so when they are made, long before they have them, and the
// server's own limit is three quarters of the disk that is free: a run could not begin on one with 2 GiB.
const maxStore = 1 << 40

// Start starts a server. Its log is not written.
func Start(cfg Config) (*Server, error) {
	if cfg.Dir == "" {
		return nil, errors.New("embedded: Config.Dir is empty: name a folder for the streams")
	}
	if cfg.Port < 0 || cfg.Port > 65535 {
		return nil, fmt.Errorf("embedded: Config.Port is %d: need 0 to 65535", cfg.Port)
	}
	port := cfg.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		Host: cmp.Or(cfg.Host, "127.0.0.1"), Port: port, StoreDir: cfg.Dir, JetStream: true,
		JetStreamMaxStore: maxStore, NoLog: true, NoSigs: true, DisableJetStreamBanner: true,
	}
	if cfg.Configure != nil {
		cfg.Configure(o)
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
	return &Server{s}, nil
}

// URL returns where clients connect.
func (s *Server) URL() string { return s.s.ClientURL() }

// Addr returns the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.s.Addr() }

// Close ends the server. The streams stay on the disk.
func (s *Server) Close() error {
	s.s.Shutdown()
	s.s.WaitForShutdown()
	return nil
}

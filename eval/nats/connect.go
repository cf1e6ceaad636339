package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// connect connects in a role, until ctx ends. It calls failed when the server refuses something later, or the
// connection is closed for good.
func (s Server) connect(ctx context.Context, role, name string, failed func(error)) (*nats.Conn, error) {
	d, connected := dialUntil(ctx)
	defer connected()
	inbox := s.subject("inbox", role)
	if role == asWorker {
		key, err := s.publicKey()
		if err != nil {
			return nil, err
		}
		inbox += "." + key
	}
	options := []nats.Option{
		nats.Timeout(connectWithin), nats.SetCustomDialer(d), nats.Name(name), nats.CustomInboxPrefix(inbox),
		nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(3 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) || errors.Is(err, nats.ErrAuthorization) {
				failed(fmt.Errorf("nats: %v refuses a %s: %w", s, role, err))
			}
		}),
		// After errors that it does not know the client gives up for good. It is called for that alone.
		nats.NoCallbacksAfterClientClose(), nats.ClosedHandler(func(nc *nats.Conn) {
			failed(fmt.Errorf("nats: %v closed the connection of a %s: %w", s, role,
				cmp.Or(nc.LastError(), nats.ErrConnectionClosed)))
		}),
	}
	if s.Credentials != "" {
		options = append(options, nats.UserCredentials(s.Credentials))
	}
	if s.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(s.NKey)
		if err != nil {
			return nil, fmt.Errorf("nats: Server.NKey: %w", err)
		}
		options = append(options, key)
	}
	if s.CA != "" {
		options = append(options, nats.RootCAs(s.CA))
	}
	if s.Cert != "" {
		options = append(options, nats.ClientCert(s.Cert, s.Key))
	}
	if s.InProcess != nil {
		options = append(options, nats.InProcessServer(s.InProcess))
	}
	nc, err := nats.Connect(s.URL, append(options, s.Options...)...)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("nats: connecting to %v: %w", s, err)
	}
	if got := nc.MaxPayload(); got < minPayload {
		nc.Close()
		return nil, fmt.Errorf("nats: %v takes messages of at most %d bytes: set its max_payload to %d or more",
			s, got, minPayload)
	}
	return nc, nil
}

// connectWithin bounds the time that one server takes to let a client in. A busy server takes seconds.
const connectWithin = 10 * time.Second

// A dialer dials for the client, whose own functions do not take a context.
type dialer func(network, address string) (net.Conn, error)

func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// dialUntil returns a dialer whose connections end with ctx, until connected is called.
func dialUntil(ctx context.Context) (d dialer, connected func()) {
	var mu sync.Mutex
	var off []func() bool
	d = func(network, address string) (net.Conn, error) {
		mu.Lock()
		first := ctx
		mu.Unlock()
		c, err := (&net.Dialer{Timeout: connectWithin}).DialContext(first, network, address)
		if err == nil && first.Done() != nil {
			mu.Lock()
			defer mu.Unlock()
			off = append(off, context.AfterFunc(first, func() { c.Close() }))
		}
		return c, err
	}
	return d, func() {
		mu.Lock()
		defer mu.Unlock()
		for _, f := range off {
			f()
		}
		ctx, off = context.Background(), nil
	}
}

// minPayload is the least message limit that a server may have: NATS's default.
const minPayload = 1 << 20

package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// A Server says where the NATS server is, and who connects.
type Server struct {
	// URL is that of the server, or of several of a cluster, separated by commas: "nats://10.0.0.1:4222", or tls:// to
	// insist on TLS. "" means nats://127.0.0.1:4222. It may have a name and a password, or a token, before an @: String does
	// not show them.
	URL string
	// InProcess connects to a server in this process, without a port; URL is not used then. nil means a server elsewhere.
	InProcess nats.InProcessConnProvider
	// Prefix begins the names of all subjects and streams: small letters, digits, - and _. "" means evoalloc.
	Prefix string
	// Credentials is the path of a credentials file, with a JWT and the seed of an NKey. "" means none.
	Credentials string
	// NKey is the path of a file with the seed of an NKey. "" means none.
	NKey string
	// CA is the path of the certificates, as PEM, that the server's is checked by. "" means the system's.
	CA string
	// Cert and Key are the paths of a certificate of one's own and its key, as PEM. "" means none.
	Cert, Key string
	// Options are further options of the connection. A dialer has to be given by [nats.SetCustomDialer].
	Options []nats.Option
}

// DefaultPrefix is the Prefix of a [Server] that has none.
const DefaultPrefix = "evoalloc"

// The roles of those that connect.
const (
	asRun    = "run"
	asWorker = "worker"
)

var (
	names    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	prefixes = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`) // which streams have in upper case
)

// filled returns s with its defaults, or an error that names what is wrong.
func (s Server) filled() (Server, error) {
	s.URL, s.Prefix = cmp.Or(s.URL, nats.DefaultURL), cmp.Or(s.Prefix, DefaultPrefix)
	for i, one := range strings.Split(s.URL, ",") {
		if u, err := parse(one); err != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" { // part of a password perhaps
			return s, fmt.Errorf("nats: Server.URL: its server %d cannot be read: want nats://HOST:PORT, and %%XX for / ? # %% , in a password", i+1)
		}
	}
	switch {
	case !prefixes.MatchString(s.Prefix):
		return s, fmt.Errorf("nats: Server.Prefix is %q: want up to 64 small letters, digits, - and _", s.Prefix)
	case s.Credentials != "" && s.NKey != "":
		return s, errors.New("nats: Server has both Credentials and NKey: give one of them")
	case strings.HasPrefix(s.NKey, "SU") && len(s.NKey) == 58 && !strings.ContainsAny(s.NKey, "./\\"):
		return s, errors.New("nats: Server.NKey is a seed: give the path of a file that holds it, which nobody sees in the arguments of a process")
	case (s.Cert == "") != (s.Key == ""):
		return s, errors.New("nats: Server has one of Cert and Key: give both or neither")
	}
	return s, nil
}

// parse reads one URL of a server as the client does.
func parse(one string) (*url.URL, error) {
	one = strings.TrimSpace(one)
	if !strings.Contains(one, "://") {
		one = "nats://" + one
	}
	return url.Parse(one)
}

// String returns the servers' addresses without names, passwords and tokens, for all that is printed and logged.
func (s Server) String() string {
	if s.InProcess != nil {
		return "a server in this process"
	}
	var shown []string
	for _, one := range strings.Split(cmp.Or(s.URL, nats.DefaultURL), ",") {
		if u, err := parse(one); err == nil && u.Path+u.RawQuery+u.Fragment == "" { // else a password may be in the host
			shown = append(shown, u.Scheme+"://"+u.Host)
		} else {
			shown = append(shown, "an address that is no URL")
		}
	}
	return strings.Join(shown, ",")
}

// connect connects in a role, or gives up when ctx ends. failed is told of what the server refuses later on.
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
		return nil, fmt.Errorf("nats: %v takes messages of at most %d bytes: set its max_payload to %d or more", s, got, minPayload)
	}
	return nc, nil
}

// anyKey stands for the public key of those that have none: they show a password, a token, a certificate, or nothing.
const anyKey = "any"

// publicKey returns the public key of the NKey that this client shows, by which the server knows who it is.
func (s Server) publicKey() (string, error) {
	path := cmp.Or(s.NKey, s.Credentials)
	if path == "" {
		return anyKey, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("nats: reading the NKey: %w", err)
	}
	defer clear(text)
	pair, err := nkeys.ParseDecoratedNKey(text)
	if err != nil {
		return "", fmt.Errorf("nats: %s has no seed of an NKey: %w", path, err)
	}
	defer pair.Wipe()
	return pair.PublicKey()
}

// connectWithin is how long one server may take to let a client in. A busy one takes seconds.
const connectWithin = 10 * time.Second

// A dialer dials for the client, whose own functions do not take a context.
type dialer func(network, address string) (net.Conn, error)

func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// dialUntil returns a dialer whose connections end with ctx, until connected is called: those of before stay then, and
// later ones do not ask for ctx.
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

// minPayload is the least message limit of a server, NATS's default.
const minPayload = 1 << 20

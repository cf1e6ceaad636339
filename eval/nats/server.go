package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A Server says where the NATS server is, and who connects.
type Server struct {
	// URL is that of the server, or of several of a cluster, separated by commas: "nats://10.0.0.1:4222", or tls:// to
	// insist on TLS. "" means nats://127.0.0.1:4222.
	URL string
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
	switch {
	case !prefixes.MatchString(s.Prefix):
		return s, fmt.Errorf("nats: Server.Prefix is %q: want up to 64 small letters, digits, - and _", s.Prefix)
	case s.Credentials != "" && s.NKey != "":
		return s, errors.New("nats: Server has both Credentials and NKey: give one of them")
	case (s.Cert == "") != (s.Key == ""):
		return s, errors.New("nats: Server has one of Cert and Key: give both or neither")
	}
	return s, nil
}

// connect connects in a role, or gives up when ctx ends. failed is told of what the server refuses later on.
func (s Server) connect(ctx context.Context, role, name string, failed func(error)) (*nats.Conn, error) {
	d, connected := dialUntil(ctx)
	defer connected()
	options := []nats.Option{
		nats.Timeout(connectWithin), nats.SetCustomDialer(d), nats.Name(name), nats.CustomInboxPrefix(s.Prefix + ".inbox." + role),
		nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(3 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) || errors.Is(err, nats.ErrAuthorization) {
				failed(fmt.Errorf("nats: %s refuses a %s: %w", s.URL, role, err))
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
	nc, err := nats.Connect(s.URL, append(options, s.Options...)...)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("nats: connecting to %s: %w", s.URL, err)
	}
	if got := nc.MaxPayload(); got < minPayload {
		nc.Close()
		return nil, fmt.Errorf("nats: %s takes messages of at most %d bytes: set its max_payload to %d or more", s.URL, got, minPayload)
	}
	return nc, nil
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

// stream returns the name of a stream of the prefix.
func (s Server) stream(name string) string { return strings.ToUpper(s.Prefix) + "_" + name }

func (s Server) jobs() string    { return s.stream("JOBS") }
func (s Server) results() string { return s.stream("RESULTS") }
func (s Server) large() string   { return s.stream("LARGE") }

// subject returns a subject of the prefix.
func (s Server) subject(tokens ...string) string {
	return s.Prefix + "." + strings.Join(tokens, ".")
}

// Permissions are the subjects that a user of the server may publish to and subscribe to.
type Permissions struct{ Publish, Subscribe []string }

// WorkerPermissions returns what a worker of a prefix ("" means [DefaultPrefix]) needs: to take jobs, acknowledge them,
// look results up and store them.
func WorkerPermissions(prefix string) Permissions {
	s := Server{Prefix: cmp.Or(prefix, DefaultPrefix)}
	bucket := "OBJ_" + s.large()
	return Permissions{
		Publish: []string{
			"$JS.API.CONSUMER.MSG.NEXT." + s.jobs() + ".*", "$JS.ACK." + s.jobs() + ".>", "$JS.API.DIRECT.GET." + s.results() + ".>",
			s.subject("results", ">"), s.subject("told", "*"),
			"$O." + s.large() + ".>", "$JS.API.STREAM.INFO." + bucket, "$JS.API.DIRECT.GET." + bucket + ".>", "$JS.API.STREAM.PURGE." + bucket,
		},
		Subscribe: []string{s.subject("inbox", asWorker, ">"), s.subject("call", "*"), s.subject("cancel", "*")},
	}
}

// RunPermissions returns what a run of a prefix ("" means [DefaultPrefix]) needs: it also makes the streams.
func RunPermissions(prefix string) Permissions {
	s := Server{Prefix: cmp.Or(prefix, DefaultPrefix)}
	return Permissions{
		Publish:   []string{"$JS.API.>", "$JS.FC.>", s.subject("jobs", ">"), s.subject("call", "*"), s.subject("cancel", "*"), s.subject("told", "*")},
		Subscribe: []string{s.subject("inbox", asRun, ">"), s.subject("results", ">"), s.subject("told", "*")},
	}
}

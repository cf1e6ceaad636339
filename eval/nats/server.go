package nats

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// A Server is where the NATS server is, and how to log in.
type Server struct {
	// URL is the server's, or those of several servers of a cluster, separated by commas: "nats://10.0.0.1:4222", or
	// tls:// to insist on TLS. "" means nats://127.0.0.1:4222. A name and a password, or a token, may stand before an @;
	// String does not show them.
	URL string
	// InProcess connects to a server in this process, without a port and instead of URL. nil means a server elsewhere.
	InProcess nats.InProcessConnProvider
	// Prefix begins the names of all subjects and streams: small letters, digits, - and _. "" means evoalloc.
	Prefix string
	// Credentials is the path of a credentials file, with a JWT and the seed of an NKey. "" means none.
	Credentials string
	// NKey is the path of a file with the seed of an NKey. "" means none.
	NKey string
	// CA is the path of the authorities' certificates, as PEM, that vouch for the server. "" means the system's.
	CA string
	// Cert and Key are the paths of the client's certificate and its key, as PEM. "" means none.
	Cert, Key string
	// Options are further options of the connection. Set a dialer with [nats.SetCustomDialer]. Set no handler of errors
	// or of closed connections: it would replace the one that ends a run or worker that the server refuses.
	Options []nats.Option
}

// defaultPrefix is the Prefix of a [Server] that has none.
const defaultPrefix = "evoalloc"

// The roles of clients.
const (
	asRun    = "run"
	asWorker = "worker"
)

var (
	names    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	prefixes = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`) // upper case in the names of streams
)

// filled returns s with its defaults, or an error that names the wrong field.
func (s Server) filled() (Server, error) {
	s.URL, s.Prefix = cmp.Or(s.URL, nats.DefaultURL), cmp.Or(s.Prefix, defaultPrefix)
	for i, one := range strings.Split(s.URL, ",") {
		if u, err := parse(one); err != nil || u.Path+u.RawQuery+u.Fragment != "" { // which may be part of a password
			return s, fmt.Errorf("nats: Server.URL: its server %d cannot be read: want nats://HOST:PORT, "+
				"and %%XX for / ? # %% , in a password", i+1)
		}
	}
	switch {
	case !prefixes.MatchString(s.Prefix):
		return s, fmt.Errorf("nats: Server.Prefix is %q: want up to 64 small letters, digits, - and _", s.Prefix)
	case s.Credentials != "" && s.NKey != "":
		return s, errors.New("nats: Server has both Credentials and NKey: set one of them")
	case strings.HasPrefix(s.NKey, "SU") && len(s.NKey) == 58 && !strings.ContainsAny(s.NKey, "./\\"):
		return s, errors.New("nats: Server.NKey is a seed: give the path of a file that holds it, " +
			"so that it is not visible among the arguments of the process")
	case (s.Cert == "") != (s.Key == ""):
		return s, errors.New("nats: Server has only one of Cert and Key: set both or neither")
	}
	return s, nil
}

// parse parses a server's URL as the client does.
func parse(one string) (*url.URL, error) {
	one = strings.TrimSpace(one)
	if !strings.Contains(one, "://") {
		one = "nats://" + one
	}
	return url.Parse(one)
}

// String returns the servers' addresses without names, passwords and tokens, for messages and logs.
func (s Server) String() string {
	if s.InProcess != nil {
		return "a server in this process"
	}
	var shown []string
	for _, one := range strings.Split(cmp.Or(s.URL, nats.DefaultURL), ",") {
		if u, err := parse(one); err == nil && u.Path+u.RawQuery+u.Fragment == "" { // else a password may be in the host
			shown = append(shown, u.Scheme+"://"+u.Host)
		} else {
			shown = append(shown, "an address that is not a URL")
		}
	}
	return strings.Join(shown, ",")
}

// anyKey stands for the public key of clients without an NKey, which authenticate otherwise or not at all.
const anyKey = "any"

// publicKey returns the public key of the client's NKey, which is its identity at the server.
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
		return "", fmt.Errorf("nats: %s does not hold the seed of an NKey: %w", path, err)
	}
	defer pair.Wipe()
	return pair.PublicKey()
}

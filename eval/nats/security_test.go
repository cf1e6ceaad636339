package nats_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/llm"
)

// allow returns permissions as a server has them.
func allow(p nats.Permissions) *server.Permissions {
	return &server.Permissions{Publish: &server.SubjectPermission{Allow: p.Publish},
		Subscribe: &server.SubjectPermission{Allow: p.Subscribe}}
}

// file writes a file for the test.
func file(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// user returns the public key of a new NKey, and a file with its seed.
func user(t *testing.T) (public, seed string) {
	t.Helper()
	k, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := k.Seed()
	public, _ = k.PublicKey()
	return public, file(t, "user.nk", text)
}

// roles starts a server with the NKeys of a run and two workers, who have the documented permissions. other is the public
// key of the first worker.
func roles(t *testing.T) (asRun, asWorker, asLiar nats.Server, other string) {
	t.Helper()
	liarKey, liarSeed := user(t)
	runKey, runSeed := user(t)
	workerKey, workerSeed := user(t)
	s := start(t, embedded.Config{Configure: func(o *server.Options) {
		o.Nkeys = []*server.NkeyUser{
			{Nkey: runKey, Permissions: allow(nats.RunPermissions(""))},
			{Nkey: workerKey, Permissions: allow(nats.WorkerPermissions("", workerKey))},
			{Nkey: liarKey, Permissions: allow(nats.WorkerPermissions("", liarKey))},
		}
	}})
	as := func(seed string) nats.Server { return nats.Server{URL: s.URL(), NKey: seed} }
	return as(runSeed), as(workerSeed), as(liarSeed), workerKey
}

// The documented permissions are enough for both, also to give an evaluation up, and for a worker to give a job back.
func TestThePermissionsSuffice(t *testing.T) {
	t.Parallel()
	asRun, asWorker, asOther, _ := roles(t)
	h := newHeld()
	w, end := work(t, nats.WorkerConfig{Server: asWorker, Evaluator: h, Grace: -1})
	e := run(t, nats.Config{Server: asRun, Lost: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	ctx = llm.WithTrace(ctx, &llm.Trace{Queued: func() func() { return cancel }}) // when a worker has begun
	if _, err := e.Evaluate(ctx, "given up"); err == nil {
		t.Error("an evaluation that was given up has a result")
	}
	until(t, "the worker has given it up", func() bool { return w.Stats().Canceled == 1 })
	var all sync.WaitGroup
	all.Go(func() { each(t, e, 1, "program") })
	until(t, "another is under way", func() bool { return h.begun.Load() == 2 })
	if err := end(); err != nil {
		t.Errorf("the worker: %v", err)
	}
	work(t, nats.WorkerConfig{Server: asOther, Evaluator: length})
	all.Wait()
}

// The server's own parser reads the documented configuration, which allows what the package needs and no more.
func TestTheDocumentedConfiguration(t *testing.T) {
	o, err := server.ProcessConfigFile("../../docs/deploy/server.conf")
	if err != nil || !o.JetStream || len(o.Nkeys) != 2 {
		t.Fatalf("%d users, %v", len(o.Nkeys), err)
	}
	for i, want := range []nats.Permissions{nats.RunPermissions(""), nats.WorkerPermissions("", o.Nkeys[1].Nkey)} {
		got := o.Nkeys[i].Permissions
		if !slices.Equal(got.Publish.Allow, want.Publish) || !slices.Equal(got.Subscribe.Allow, want.Subscribe) {
			t.Errorf("user %d: may publish %v and subscribe %v, want %v", i, got.Publish.Allow, got.Subscribe.Allow, want)
		}
	}
}

// Who has no credentials, or a worker's for a run's work, is refused.
func TestWhoIsRefused(t *testing.T) {
	t.Parallel()
	asRun, asWorker, _, _ := roles(t)
	nobody := nats.Server{URL: asRun.URL}
	if _, err := nats.New(t.Context(), nats.Config{Server: nobody, Task: cp}); err == nil ||
		!strings.Contains(err.Error(), "Authorization") {
		t.Errorf("a run without credentials: %v", err)
	}
	if _, err := nats.New(t.Context(), nats.Config{Server: asWorker, Task: cp}); !errors.Is(err,
		natsgo.ErrPermissionViolation) {
		t.Errorf("a run with a worker's NKey: %v", err)
	}
	run(t, nats.Config{Server: asRun}) // who may
}

// client connects with the NKey of a worker, and nothing of this package. What the server refuses comes to refused.
func client(t *testing.T, as nats.Server) (nc *natsgo.Conn, refused <-chan error) {
	t.Helper()
	key, err := natsgo.NkeyOptionFromSeed(as.NKey)
	if err != nil {
		t.Fatal(err)
	}
	var own natsgo.Options
	if err := key(&own); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 10)
	nc, err = natsgo.Connect(as.URL, key, natsgo.CustomInboxPrefix("evoalloc.inbox.worker."+own.Nkey),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { errs <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, errs
}

// A worker may read jobs and write results, and speak for itself: the server refuses all else.
func TestWhatAWorkerMayNotDo(t *testing.T) {
	t.Parallel()
	asRun, _, asLiar, other := roles(t)
	run(t, nats.Config{Server: asRun}) // which makes the streams
	nc, refused := client(t, asLiar)
	refusal := func(subject string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-refused:
			if !strings.Contains(err.Error(), subject) {
				t.Errorf("%s: refused was %v", subject, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s is not refused", subject)
		}
	}
	for _, subject := range []string{
		"evoalloc.jobs.cp.0123456789abcdef.00", "evoalloc.cancel.cp.0123456789abcdef.00", "evoalloc.inbox.run.x",
		"evoalloc.here.cp." + other, "evoalloc.here.cp", "evoalloc.inbox.worker." + other + ".x",
		"$KV.OTHER_RESULTS.cp.0123456789abcdef.00", "$JS.API.STREAM.PURGE.EVOALLOC_JOBS",
		"$JS.API.STREAM.PURGE.KV_EVOALLOC_RESULTS", "$JS.API.STREAM.DELETE.KV_EVOALLOC_RESULTS",
		"$JS.API.STREAM.MSG.DELETE.EVOALLOC_JOBS", "$JS.API.STREAM.UPDATE.EVOALLOC_JOBS",
		"$JS.API.CONSUMER.DELETE.EVOALLOC_JOBS.cp_0123456789abcdef", "$JS.API.CONSUMER.CREATE.EVOALLOC_JOBS",
		"$JS.API.DIRECT.GET.EVOALLOC_JOBS", "$JS.API.STREAM.LIST",
	} {
		refusal(subject, nc.Publish(subject, []byte("{}")))
	}
	for _, subject := range []string{">", "evoalloc.jobs.>", "$KV.EVOALLOC_RESULTS.>", "evoalloc.inbox.run.>",
		"evoalloc.here.>", "evoalloc.inbox.worker.>", "evoalloc.inbox.worker." + other + ".>"} {
		_, err := nc.SubscribeSync(subject)
		refusal(subject, err)
	}
}

// What a worker has the server send as a job or a cancellation is refused by the others. What it stores in place of a
// result, and is none, is removed, and the result of another worker is taken.
func TestALiar(t *testing.T) {
	t.Parallel()
	asRun, asWorker, asLiar, _ := roles(t)
	e := run(t, nats.Config{Server: asRun, Lost: time.Minute})
	nc, _ := client(t, asLiar)
	evil := natsgo.NewMsg("$KV.EVOALLOC_RESULTS.feed")
	evil.Header, evil.Data = natsgo.Header{"Evo-Sample": {"0"}, "Evo-Max-Deliver": {"5"}}, []byte("evil")
	junk := natsgo.NewMsg("$KV.EVOALLOC_RESULTS.cp." + cp.Digest + "." + nats.KeyOf("program"))
	heard, err := nc.SubscribeSync("evoalloc.cancel.>")
	for _, m := range []*natsgo.Msg{evil, junk} {
		_, errStore := nc.RequestMsg(m, time.Minute)
		err = errors.Join(err, errStore)
	}
	send := func(answer string) {
		err = errors.Join(err, nc.PublishRequest("$JS.API.DIRECT.GET.KV_EVOALLOC_RESULTS."+evil.Subject, answer, nil))
		if err != nil {
			t.Fatal(err)
		}
	}
	send("evoalloc.jobs.cp." + cp.Digest + "." + nats.KeyOf("evil"))
	h := newHeld()
	w, _ := work(t, nats.WorkerConfig{Server: asWorker, Evaluator: h})
	var all sync.WaitGroup
	all.Go(func() {
		if r, err := e.Evaluate(t.Context(), "program"); err != nil || r.Score != 1 || h.begun.Load() != 1 {
			t.Errorf("%+v, %v after %d evaluations", r, err, h.begun.Load())
		}
	})
	until(t, "the program is under way", func() bool { return h.begun.Load() == 1 })
	send("evoalloc.cancel.cp." + cp.Digest + "." + nats.KeyOf("program"))
	if _, err := heard.NextMsg(time.Minute); err != nil {
		t.Fatalf("the cancellation is not heard: %v", err)
	}
	time.Sleep(100 * time.Millisecond) // for a worker that listens to it
	close(h.release)
	all.Wait()
	if n := w.Stats().Canceled; n != 0 {
		t.Errorf("%d jobs are canceled", n)
	}
}

// A lines is where a logger writes.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// A party has a certificate that it signed itself, and is its own authority.
type party struct{ cert, key string } // files

func newParty(t *testing.T) party {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, errCert := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	private, errKey := x509.MarshalECPrivateKey(key)
	if err := errors.Join(errCert, errKey); err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	return party{file(t, "cert.pem", text("CERTIFICATE", cert)), file(t, "key.pem", text("EC PRIVATE KEY", private))}
}

// With TLS both sides show certificates, and a server or a client of another authority is refused.
func TestTLS(t *testing.T) {
	t.Parallel()
	host, client, stranger := newParty(t), newParty(t), newParty(t)
	cfg, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: host.cert, KeyFile: host.key, CaFile: client.cert,
		Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, embedded.Config{Configure: func(o *server.Options) { o.TLS, o.TLSVerify, o.TLSConfig = true, true, cfg }})
	as := func(ca, own party) nats.Server {
		return nats.Server{URL: strings.Replace(s.URL(), "nats://", "tls://", 1), CA: ca.cert, Cert: own.cert, Key: own.key}
	}
	for reason, server := range map[string]nats.Server{
		"without a certificate of its own":      as(host, party{}),
		"with one that the server has not":      as(host, stranger),
		"to a server that it has no reason for": as(stranger, client),
	} {
		if _, err := nats.New(t.Context(), nats.Config{Server: server, Task: cp}); err == nil {
			t.Errorf("a run is let in %s", reason)
		}
	}
	work(t, nats.WorkerConfig{Server: as(host, client), Evaluator: length})
	each(t, run(t, nats.Config{Server: as(host, client)}), 3, "program")
}

// A credentials file is what a server with an operator wants: accounts of others, and users without one, are refused.
func TestCredentials(t *testing.T) {
	t.Parallel()
	operator, _ := nkeys.CreateOperator()
	operatorKey, _ := operator.PublicKey()
	resolver := &server.MemAccResolver{}
	newAccount := func(limits jwt.JetStreamLimits) (pair nkeys.KeyPair, key string) {
		pair, _ = nkeys.CreateAccount()
		key, _ = pair.PublicKey()
		claims := jwt.NewAccountClaims(key)
		claims.Limits.JetStreamLimits = limits
		token, err := claims.Encode(operator)
		if err := errors.Join(err, resolver.Store(key, token)); err != nil {
			t.Fatal(err)
		}
		return pair, key
	}
	_, systemKey := newAccount(jwt.JetStreamLimits{})
	account, _ := newAccount(jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1})
	s := start(t, embedded.Config{Configure: func(o *server.Options) {
		o.TrustedKeys, o.AccountResolver, o.SystemAccount = []string{operatorKey}, resolver, systemKey
	}})
	creds := func(signer nkeys.KeyPair, may func(key string) nats.Permissions) string {
		key, _ := nkeys.CreateUser()
		public, _ := key.PublicKey()
		seed, _ := key.Seed()
		u := jwt.NewUserClaims(public)
		u.Pub.Allow, u.Sub.Allow = may(public).Publish, may(public).Subscribe
		token, err := u.Encode(signer)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.FormatUserConfig(token, seed)
		if err != nil {
			t.Fatal(err)
		}
		return file(t, "user.creds", text)
	}
	runs := func(string) nats.Permissions { return nats.RunPermissions("") }
	workers := func(key string) nats.Permissions { return nats.WorkerPermissions("", key) }
	strangers, _ := nkeys.CreateAccount()
	other := nats.Server{URL: s.URL(), Credentials: creds(strangers, runs)}
	if _, err := nats.New(t.Context(), nats.Config{Server: other, Task: cp}); err == nil {
		t.Error("a run of another account is let in")
	}
	// One after the other: a second that connects while the server loads the account for the first may be refused.
	e := run(t, nats.Config{Server: nats.Server{URL: s.URL(), Credentials: creds(account, runs)}})
	work(t, nats.WorkerConfig{Server: nats.Server{URL: s.URL(), Credentials: creds(account, workers)}, Evaluator: length})
	each(t, e, 3, "program")
}

// A server with a port lets nobody in who does not have its secret, which only its user can read.
func TestAnEmbeddedServerAsksForItsSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, embedded.Config{Dir: dir})
	run(t, nats.Config{Server: nats.Server{URL: s.URL()}}) // makes the streams
	open := "nats://" + s.Addr().String()
	for reason, url := range map[string]string{
		"nothing": open, "another secret": strings.Replace(open, "://", "://ABCDEFGHIJKLMNOPQRSTUVWXYZ@", 1),
		"a name and a password": strings.Replace(open, "://", "://evoalloc:evoalloc@", 1),
	} {
		if nc, err := natsgo.Connect(url); err == nil {
			nc.Close()
			t.Errorf("who has %s is let in", reason)
		}
	}
	if !s.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("it listens on %v", s.Addr())
	}
	info, err := os.Stat(filepath.Join(dir, "secret"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret's file: %v, %v", info, err)
	}
	before, _, _ := strings.Cut(s.URL(), "@")
	s.Close()
	again := start(t, embedded.Config{Dir: dir}).URL()
	if after, _, _ := strings.Cut(again, "@"); before != after {
		t.Error("started again, it has another secret")
	}
	queued(t, nats.Server{URL: again})
}

// A secret that others can have read or written is refused.
func TestASecretThatOthersKnow(t *testing.T) {
	t.Parallel()
	readable := t.TempDir()
	if err := os.WriteFile(filepath.Join(readable, "secret"), []byte("known"), 0o644); err != nil {
		t.Fatal(err)
	}
	writable := t.TempDir()
	if err := os.Chmod(writable, 0o777); err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{readable: "others can read it", writable: "other users can write"}
	if os.Geteuid() == 0 {
		owned, file := t.TempDir(), t.TempDir()
		secret := filepath.Join(file, "secret")
		if err := errors.Join(os.Chown(owned, 65534, 65534), os.WriteFile(secret, []byte("known"), 0o600),
			os.Chown(secret, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		dirs[owned], dirs[file] = "other users can write", "or made it"
	}
	for dir, says := range dirs {
		if s, err := embedded.Start(embedded.Config{Dir: dir}); err == nil {
			s.Close()
			t.Errorf("a server starts though %s", says)
		} else if !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
	}
}

// No error and no log line has the password of a URL, whatever goes wrong with the server.
func TestNoMessageHasAPassword(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{Configure: func(o *server.Options) { o.Username, o.Password = "me", "hush" }})
	at := s.Addr().String()
	var said lines
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, url := range []string{
		"nats://me:hush@" + at, "me:hush@" + at, // let in, and nobody serves the task
		"nats://you:hush@" + at, "nats://hush@" + at, // refused
		"nats://me:hush@127.0.0.1:1", "nats://127.0.0.1:1,me:hush@127.0.0.1:1", // nobody listens there
		"nats://me:hu/hush@" + at, "nats://me:hush#@" + at, "nats://me:%hush@" + at, "nats://hush?x@" + at,
		"nats://hush/x@" + at, "nats://me:hush/x@" + at, "nats://me:hush@host:port", // no URLs
	} {
		cfg := nats.Config{Server: nats.Server{URL: url}, Task: cp, Unserved: time.Millisecond, Logger: log}
		e, err := nats.New(t.Context(), cfg)
		if err == nil {
			_, err = e.Evaluate(t.Context(), "program")
			e.Close()
		}
		fmt.Fprintf(&said, "%v %v %+v\n", err, cfg.Server, cfg.Server)
	}
	if text := said.text.String(); strings.Contains(text, "hush") || !strings.Contains(text, at) {
		t.Errorf("it is said:\n%s", text)
	}
}

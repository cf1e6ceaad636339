package nats_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
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

// roles starts a server with a run's and a worker's NKey and the documented permissions.
func roles(t *testing.T) (asRun, asWorker nats.Server) {
	asRun, asWorker, _, _ = rolesAndLiar(t)
	return asRun, asWorker
}

// rolesAndLiar is roles with the NKey of another worker, and the public key of the first.
func rolesAndLiar(t *testing.T) (asRun, asWorker, asLiar nats.Server, workerPublic string) {
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

// The documented permissions are enough for both, also for a result in the object store and one given up.
func TestThePermissionsSuffice(t *testing.T) {
	t.Parallel()
	asRun, asWorker := roles(t)
	w, end := work(t, nats.WorkerConfig{Server: asWorker, Evaluator: large})
	e := run(t, nats.Config{Server: asRun})
	for _, program := range []string{"small", "large"} {
		if r, err := e.Evaluate(t.Context(), program); err != nil || !r.Valid {
			t.Errorf("%s: %v, %v", program, r.Valid, err)
		}
	}
	ctx, cancel := contextWithCancel(t)
	ctx = llm.WithTrace(ctx, &llm.Trace{Queued: func() func() { return cancel }}) // when a worker has begun
	if _, err := e.Evaluate(ctx, "wait"); err == nil {
		t.Error("an evaluation that was given up has a result")
	}
	until(t, "the worker has given it up", func() bool { return w.Stats().Canceled == 1 })
	if err := end(); err != nil {
		t.Errorf("the worker: %v", err)
	}
}

// Who has no credentials, or a worker's for a run's work, is refused.
func TestWhoIsRefused(t *testing.T) {
	t.Parallel()
	asRun, asWorker := roles(t)
	nobody := nats.Server{URL: asRun.URL}
	if _, err := nats.New(t.Context(), nats.Config{Server: nobody, Task: cp}); err == nil ||
		!strings.Contains(err.Error(), "Authorization") {
		t.Errorf("a run without credentials: %v", err)
	}
	w, err := nats.NewWorker(nats.WorkerConfig{Server: nobody, Task: cp, Evaluator: length})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "Authorization") {
		t.Errorf("a worker without credentials: %v", err)
	}
	_, stranger := user(t)
	if _, err := nats.New(t.Context(), nats.Config{Server: nats.Server{URL: asRun.URL, NKey: stranger},
		Task: cp}); err == nil {
		t.Error("an NKey that the server does not know is let in")
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
	asRun, _, asLiar, other := rolesAndLiar(t)
	run(t, nats.Config{Server: asRun}) // which makes the streams
	nc, refused := client(t, asLiar)
	for _, subject := range []string{
		"evoalloc.jobs.cp.0123456789abcdef.00.run", "evoalloc.call.cp", "evoalloc.cancel.cp", "evoalloc.inbox.run.x",
		"evoalloc.told.run." + other, "evoalloc.told.run.run", "evoalloc.told.run", "evoalloc.inbox.worker." + other + ".x",
		"other.results.cp.0123456789abcdef.00", "$JS.API.STREAM.PURGE.EVOALLOC_JOBS",
		"$JS.API.STREAM.DELETE.EVOALLOC_RESULTS",
		"$JS.API.STREAM.MSG.DELETE.EVOALLOC_RESULTS", "$JS.API.STREAM.UPDATE.EVOALLOC_JOBS",
		"$JS.API.CONSUMER.DELETE.EVOALLOC_JOBS.run",
		"$JS.API.CONSUMER.CREATE.EVOALLOC_JOBS", "$JS.API.DIRECT.GET.EVOALLOC_JOBS", "$JS.API.STREAM.LIST",
	} {
		if err := nc.Publish(subject, []byte("{}")); err != nil {
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
	for _, subject := range []string{">", "evoalloc.jobs.>", "evoalloc.results.>", "evoalloc.inbox.run.>",
		"evoalloc.told.*.*",
		"evoalloc.inbox.worker.>", "evoalloc.inbox.worker." + other + ".>"} {
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		select {
		case <-refused:
		case <-time.After(time.Minute):
			t.Errorf("to listen to %s is not refused", subject)
		}
	}
}

// A result that says that it is of another job, and a job whose key is that of another program, are refused.
func TestForgeriesAreRefused(t *testing.T) {
	t.Parallel()
	s := nats.Server{URL: start(t, embedded.Config{}).URL()}
	e := run(t, nats.Config{Server: s})
	ctx, cancel := contextWithCancel(t)
	gone := make(chan bool)
	go func() {
		defer close(gone)
		e.Evaluate(ctx, "program")
	}()
	until(t, "it is queued", func() bool { return nats.Queued(e) == 1 })
	key := nats.KeyOf("program")
	nats.Forge(t, e, "evoalloc.results.cp."+cp.Digest+"."+key,
		`{"task":"cp","digest":"`+cp.Digest+`","key":"`+nats.KeyOf("other")+`","result":{"score":1e9,"valid":true}}`)
	nats.Forge(t, e, "evoalloc.results.cp."+cp.Digest+"."+key,
		`{"task":"cp","digest":"fedcba9876543210","key":"`+key+`","result":{"score":1e9,"valid":true}}`)
	nats.Forge(t, e, "evoalloc.results.cp."+cp.Digest+"."+key, `not JSON`)
	until(t, "the results are refused", func() bool { return e.Stats().Refused >= 3 })
	if got := e.Stats(); got.Done != 0 {
		t.Errorf("%+v", got)
	}
	cancel()
	<-gone

	w, _ := work(t, nats.WorkerConfig{Server: s, Evaluator: length})
	nats.ForgeJob(t, e, "one program", nats.KeyOf("another program"))
	until(t, "the job is refused", func() bool { return w.Stats().Refused == 1 })
	if got := w.Stats(); got.Done != 0 {
		t.Errorf("%+v", got)
	}
}

// authority makes a certificate authority, and certificates by it.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func (a *authority) make(t *testing.T, name string, ca bool) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(time.Hour), IsCA: ca, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := c, key
	if a != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{c, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) keyPEM(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

// With TLS both sides show certificates, and a server or a worker of another authority is refused.
func TestTLS(t *testing.T) {
	t.Parallel()
	var none *authority
	ca, stranger := none.make(t, "ca", true), none.make(t, "stranger", true)
	host, client, other := ca.make(t, "host", false), ca.make(t, "client", false), stranger.make(t, "other", false)
	pair, err := tls.X509KeyPair(host.pem, host.keyPEM(t))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.pem)
	s := start(t, embedded.Config{Configure: func(o *server.Options) {
		o.TLS, o.TLSVerify = true, true
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool,
			ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	}})
	url := strings.Replace(s.URL(), "nats://", "tls://", 1)
	certs := func(ca, own *authority) nats.Server {
		server := nats.Server{URL: url, CA: file(t, "ca.pem", ca.pem)}
		if own != nil {
			server.Cert, server.Key = file(t, "cert.pem", own.pem), file(t, "key.pem", own.keyPEM(t))
		}
		return server
	}
	for reason, server := range map[string]nats.Server{
		"without a certificate of its own":   certs(ca, nil),
		"with one of another authority":      certs(ca, other),
		"a server that it has no reason for": certs(stranger, client),
	} {
		if _, err := nats.New(t.Context(), nats.Config{Server: server, Task: cp}); err == nil {
			t.Errorf("a run is let in %s", reason)
		}
	}
	work(t, nats.WorkerConfig{Server: certs(ca, client), Evaluator: length})
	each(t, run(t, nats.Config{Server: certs(ca, client)}), 3, "program")
}

// A credentials file is what a server with an operator wants: accounts of others, and users without one, are refused.
func TestCredentials(t *testing.T) {
	t.Parallel()
	operator, _ := nkeys.CreateOperator()
	operatorKey, _ := operator.PublicKey()
	account, _ := nkeys.CreateAccount()
	accountKey, _ := account.PublicKey()
	claims := jwt.NewAccountClaims(accountKey)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountJWT, err := claims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	resolver := &server.MemAccResolver{}
	if err := resolver.Store(accountKey, accountJWT); err != nil {
		t.Fatal(err)
	}
	system, _ := nkeys.CreateAccount()
	systemKey, _ := system.PublicKey()
	systemJWT, err := jwt.NewAccountClaims(systemKey).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolver.Store(systemKey, systemJWT); err != nil {
		t.Fatal(err)
	}
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
	for _, path := range []string{"", creds(strangers, runs)} {
		if _, err := nats.New(t.Context(), nats.Config{Server: nats.Server{URL: s.URL(), Credentials: path},
			Task: cp}); err == nil {
			t.Errorf("a run is let in with credentials %q", path)
		}
	}
	// One after the other: a second that connects while the server loads the account for the first may be refused.
	e := run(t, nats.Config{Server: nats.Server{URL: s.URL(), Credentials: creds(account, runs)}})
	work(t, nats.WorkerConfig{Server: nats.Server{URL: s.URL(), Credentials: creds(account, workers)}, Evaluator: length})
	each(t, e, 3, "program")
}

// Nothing listens beyond loopback unless it is told to.
func TestTheEmbeddedServerIsOnLoopback(t *testing.T) {
	if ip := start(t, embedded.Config{}).Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		t.Errorf("it listens on %v", ip)
	}
}

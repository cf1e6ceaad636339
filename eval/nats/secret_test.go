package nats_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
)

// A server with a port lets nobody in who does not have its secret, which only its user can read.
func TestAnEmbeddedServerAsksForItsSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, embedded.Config{Dir: dir})
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
	info, err := os.Stat(filepath.Join(dir, "secret"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret's file: %v, %v", info, err)
	}
	url := s.URL()
	s.Close()
	again := start(t, embedded.Config{Dir: dir})
	if user := func(u string) string { return u[:strings.Index(u, "@")] }; user(again.URL()) != user(url) {
		t.Error("started again, it has another secret")
	}
	if other := start(t, embedded.Config{}).URL(); strings.HasPrefix(other, url[:strings.Index(url, "@")]) {
		t.Error("two servers have one secret")
	}
	nc, err := natsgo.Connect(again.URL())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
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

// A server without a port has nothing that another process could connect to, and this one connects.
func TestAServerWithoutAPort(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{Port: -1})
	if s.Addr() != nil || s.URL() != "" {
		t.Errorf("it listens on %v, %q", s.Addr(), s.URL())
	}
	server := nats.Server{InProcess: s}
	work(t, nats.WorkerConfig{Server: server, Evaluator: length})
	each(t, run(t, nats.Config{Server: server}), 3, "program")
}

// No error and no log line has the password of a URL, whatever goes wrong with the server.
func TestNoMessageHasAPassword(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{Configure: func(o *server.Options) { o.Username, o.Password = "me", "hush" }})
	at := s.Addr().String()
	var said lines
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	try := func(url string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cfg := nats.Config{Server: nats.Server{URL: url}, Task: cp, Unserved: time.Millisecond, Logger: log}
		if e, err := nats.New(ctx, cfg); err != nil {
			fmt.Fprintln(&said, err)
		} else {
			_, err := e.Evaluate(ctx, "program")
			e.Close()
			fmt.Fprintln(&said, err)
		}
		w, err := nats.NewWorker(nats.WorkerConfig{Server: nats.Server{URL: url}, Task: cp, Evaluator: length, Logger: log})
		if err == nil && !strings.Contains(url, "me:hush@"+at) {
			err = w.Run(ctx)
		}
		fmt.Fprintf(&said, "%v %v %+v\n", err, nats.Server{URL: url}, nats.Server{URL: url})
	}
	none, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	none.Close() // nobody listens there now
	for _, url := range []string{
		"nats://me:hush@" + at, "me:hush@" + at, // let in, and nobody serves the task
		"nats://you:hush@" + at, "nats://hush@" + at, // refused
		"nats://me:hush@" + none.Addr().String(), "nats://127.0.0.1:1,me:hush@" + none.Addr().String(),
		"nats://me:hu/hush@" + at, "nats://me:hush#@" + at, "nats://me:%hush@" + at, "nats://hush?x@" + at,
		"nats://hush/x@" + at, "nats://me:hush/x@" + at, "nats://me:hush@host:port", // no URLs
	} {
		try(url)
	}
	if text := said.text.String(); strings.Contains(text, "hush") || !strings.Contains(text, at) {
		t.Errorf("it is said:\n%s", text)
	}
}

package command

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// serveAt serves HTTP at a Unix socket: it returns what was posted with a word before it, in two parts.
func serveAt(t *testing.T) (path string, served *atomic.Int32) {
	t.Helper()
	path, served = filepath.Join(t.TempDir(), "s"), new(atomic.Int32)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		text, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprint(w, r.Header.Get("Authorization"), " ")
		w.(http.Flusher).Flush()
		_, _ = w.Write(text)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return path, served
}

// The clients that agents are made of come to the socket by its address, also by the name localhost, and keep connections.
func TestEditorReachesItsSocket(t *testing.T) {
	t.Parallel()
	cfg, _ := editing(t)
	cfg.Memory = 64 << 30
	path, served := serveAt(t)
	for _, ms := range [][]isolation.Mechanism{nil, {sandbox.MountNS}, {sandbox.Landlock}, {sandbox.Seccomp}} {
		e := editorWithout(t, cfg, ms)
		if err := e.CanReach(); err != nil {
			t.Skip(err)
		}
		for tool, script := range map[string]string{
			"curl": `curl -sS -m 60 -H "Authorization: $TOKEN" -d hello "$BASE" && curl -sS -m 60 -d again "http://localhost:${BASE##*:}"`,
			"python3": `exec ` + pythonPath + ` -c '
import os, urllib.request, asyncio, http.client
def ask(base, text):
    return urllib.request.urlopen(urllib.request.Request(base, text, {"Authorization": os.environ["TOKEN"]}), timeout=60).read().decode()
print(ask(os.environ["BASE"], b"hello"), end="")
host, port = os.environ["BASE"][7:].split(":")
c = http.client.HTTPConnection("localhost", port)
for word in "again", "more":
    c.request("POST", "/", word)
    print(c.getresponse().read().decode(), end="")
async def stream():
    r, w = await asyncio.open_connection("localhost", port)
    w.write(b"POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nend")
    print((await r.read())[-4:].decode(), end="")
asyncio.run(stream())'`,
			"node": `exec node -e '
const ask = async (base, body) => process.stdout.write(await (await fetch(base, {method: "POST", body, headers: {Authorization: process.env.TOKEN}})).text());
const base = process.env.BASE;
(async () => { await ask(base, "hello"); await ask(base.replace("127.0.0.1", "localhost"), " again"); })()'`,
		} {
			if _, err := exec.LookPath(tool); err != nil && tool != "python3" || tool == "python3" && pythonPath == "" {
				continue
			}
			before := served.Load()
			out, err := e.Edit(t.Context(), changed, Job{Prompt: script, Socket: path,
				Env: []string{"BASE=http://{address}", "TOKEN=secret"}})
			if err != nil || out.Fault != nil || !strings.HasPrefix(out.Stdout, "secret hello") || served.Load() < before+2 {
				t.Errorf("without %v, %s: got %+v, %v, %v; %d requests", ms, tool, out, out.Fault, err, served.Load()-before)
			}
		}
	}
}

// With a socket of its own a command reaches no other, and none when its session is over.
func TestEditorReachesNothingElse(t *testing.T) {
	t.Parallel()
	needPython(t)
	cfg, _ := editing(t)
	cfg.Timeout = 20 * time.Second
	cfg.Run = []string{pythonPath, "-c", driver, "{prompt}", "{address}"}
	path, _ := serveAt(t)
	other, _ := serveAt(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	datagrams := filepath.Join(t.TempDir(), "s")
	p, err := net.ListenPacket("unixgram", datagrams)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	text, err := os.ReadFile(filepath.Join("..", "python", "testdata", "hostile", "network.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, ms := range [][]isolation.Mechanism{nil, {sandbox.MountNS}, {sandbox.Landlock}} {
		e := editorWithout(t, cfg, ms)
		if err := e.CanReach(); err != nil {
			t.Skip(err)
		}
		for _, address := range []string{l.Addr().String(), path, other, datagrams} {
			out, err := e.Edit(t.Context(), changed, Job{Prompt: strings.ReplaceAll(string(text), "ADDRESS", address),
				Socket: path})
			if err != nil || out.Fault != nil || strings.TrimSpace(out.Stdout) != "[]" {
				t.Errorf("without %v, to %s: %q went through, fault %v, %v", ms, address, out.Stdout, out.Fault, err)
			}
		}
	}
	without := editorWithout(t, cfg, []isolation.Mechanism{sandbox.NetNS})
	if err := without.CanReach(); err == nil || !strings.Contains(err.Error(), "network namespace") {
		t.Errorf("without a network namespace: %v", err)
	}
	if _, err := without.Edit(t.Context(), changed, Job{Socket: path}); err == nil ||
		!strings.Contains(err.Error(), "network namespace") {
		t.Errorf("without a network namespace: %v", err)
	}
}

// Without containment a job has a socket all the same, at an address that it is told, and what it leaves is read.
func TestEditorUncontained(t *testing.T) {
	t.Parallel()
	needPython(t)
	cfg, dir := editing(t)
	cfg.Isolation = isolation.None
	before := digestOf(t, dir)
	path, _ := serveAt(t)
	e := editorWithout(t, cfg, nil)
	if err := e.CanReach(); err != nil {
		t.Fatal(err)
	}
	script := `echo 5 > a.txt; ` + pythonPath +
		` -c 'import urllib.request; print(urllib.request.urlopen("http://{address}", b"hello").read())'`
	out, err := e.Edit(t.Context(), changed, Job{Prompt: strings.ReplaceAll(script, "{address}", "'$AT'"), Socket: path,
		Env: []string{"AT={address}"}})
	if err != nil || out.Fault != nil || out.Stdout != "b' hello'\n" ||
		!strings.Contains(out.Program, "-- a.txt --\n5\n") {
		t.Errorf("got %+v, %v, %v", out, out.Fault, err)
	}
	if digestOf(t, dir) != before {
		t.Error("the base was changed")
	}
}

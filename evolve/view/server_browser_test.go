package view

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

// A person watches a run from its first round to its end. Meanwhile the page is clicked, reloaded, and loses its server
// to another at the same address.
func TestWatchedRun(t *testing.T) {
	tab := browsertest.Open(t)
	dir := t.TempDir()
	s := serving(t, ServerConfig{pace: fast}, dir)
	address, token := base(t, s)
	tab.Go(s.URL())
	tab.Wait("document.querySelector('.link-state').dataset.state === 'connected'")
	if got := browsertest.Eval[string](tab, "location.href"); got != address+"/" {
		t.Errorf("the address bar shows %q, want it without the token", got)
	}

	g := gated(bench{calls: 64, arms: 2})
	over := make(chan struct{})
	go func() { defer close(over); g.run(t.Context(), t, filepath.Join(dir, "run.journal")) }()
	g.rounds(t, 2)
	tab.Wait(shows(24)) // the run appeared by itself, and waits at the end of its third round
	tab.Wait("document.querySelector('.status').textContent === 'running'")

	tab.Wait("document.querySelector('#best tbody tr')")
	// at once, as rows may be replaced
	browsertest.Eval[bool](tab, "document.querySelector('#best tbody tr').click() || true")
	tab.Wait("document.querySelector('#candidate').textContent.includes('function')") // asked of the server
	g.rounds(t, 1)
	tab.Wait(shows(32))
	if !browsertest.Eval[bool](tab, "document.querySelector('#candidate').textContent.includes('function')") {
		t.Error("what was clicked is gone when there is more")
	}

	tab.Reload()
	tab.Wait(shows(32))
	before := len(tab.Faults())
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	tab.Wait("document.querySelector('.link-state').dataset.state === 'disconnected'")
	g.rounds(t, 1)
	again, err := NewServer(ServerConfig{Token: token, pace: fast})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Follow(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Listen(strings.TrimPrefix(address, "http://")); err != nil {
		t.Fatal(err)
	}
	tab.Wait("document.querySelector('.link-state').dataset.state === 'connected'")
	tab.Wait(shows(40))
	restarted := len(tab.Faults())

	g.open()
	<-over
	tab.Wait("document.querySelector('.status').textContent === 'over'")
	tab.Wait(shows(64))
	for i, fault := range tab.Faults() {
		closing := before <= i && i < restarted // a request may meet the server as it closes
		// What the browser says of the time without a server.
		if !strings.Contains(fault, "net::ERR_") && !(closing && strings.Contains(fault, "status of 503")) {
			t.Errorf("the page logged %s", fault)
		}
	}
	for _, asked := range tab.Requests() {
		if !strings.HasPrefix(asked, address+"/") || strings.Contains(strings.TrimPrefix(asked, s.URL()), token) {
			t.Errorf("the page asked for %s", asked)
		}
	}
}

// shows returns a script that tells whether the page shows so many answered calls.
func shows(calls int) string {
	return fmt.Sprintf("[...document.querySelectorAll('#answer .fact')].some(f => f.querySelector('dt').textContent "+
		"=== 'Calls' && "+
		"f.querySelector('dd').textContent.startsWith('%d '))", calls)
}

// A page of another origin that even knows the token gets nothing: not by a request with it, nor as a frame, a script
// or an image.
func TestOtherOrigin(t *testing.T) {
	tab := browsertest.Open(t)
	s := serving(t, ServerConfig{}, finished(t))
	address, token := base(t, s)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>other</title><link rel=icon href=data:,><body>")
	}))
	defer other.Close()
	tab.Go(other.URL)
	for what, script := range map[string]string{
		"a request with the token":     `fetch('%s/api/runs', {headers: {Authorization: 'Bearer %s'}})`,
		"a request without preflight":  `fetch('%s/api/runs?token=%s')`,
		"a request that wants no text": `fetch('%s/api/runs?token=%s', {mode: 'no-cors'})`,
		"the page itself":              `fetch('%s/#token=%s', {mode: 'no-cors'})`,
		"a stream": `new Promise((yes, no) => { const e = new EventSource('%s/api/events?token=%s'); ` +
			`e.onopen = yes; e.onerror = no; })`,
		"a script": `new Promise((yes, no) => { const e = document.createElement('script'); e.src = ` +
			`'%s/api/runs?token=%s'; e.onload = yes; e.onerror = no; document.body.append(e); })`,
		"an image": `new Promise((yes, no) => { const e = new Image(); e.src = '%s/report?token=%s'; ` +
			`e.onload = yes; e.onerror = no; })`,
	} {
		script = fmt.Sprintf(script, address, token) + `.then(() => 'answered', () => 'refused')`
		if got := browsertest.Eval[string](tab, script); got != "refused" {
			t.Errorf("%s of another origin is %s", what, got)
		}
	}
	framed := `new Promise(done => { const e = document.createElement('iframe'); e.src = '` + s.URL() + `'; document.body.append(e);
		e.onload = () => { try { done(e.contentDocument.title); } catch { done('out of reach'); } } })`
	if got := browsertest.Eval[string](tab, framed); got != "out of reach" {
		t.Errorf("a frame of another origin's has the title %q", got)
	}
	if faults := strings.Join(tab.Faults(), "\n"); !strings.Contains(faults, "CORS") || !strings.Contains(faults, "403") {
		t.Errorf("the browser does not say that it and the server refused: %s", faults)
	}
}

// Package browsertest lets tests use a real browser without a window. It alone calls chromedp, whose interface has
// changed before.
package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// patience is how long a test waits for something that must happen, on a busy machine.
const patience = time.Minute

// Main runs a package's tests, for its TestMain, and ends the browser after them. Without a browser it prints a note,
// and [Open] skips tests.
func Main(m *testing.M, pkg string) int {
	if _, err := find(); err != nil {
		notrun.Say(pkg, "what a browser is needed for", err, "install chromium")
	}
	defer stop()
	return m.Run()
}

// find returns the path of the browser.
func find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no chromium")
}

// browser is shared by all tests of a package, each with tabs of its own.
var browser struct {
	sync.Mutex
	ctx  context.Context
	stop func()
	dir  string
}

// start returns the context of the browser, which it starts if need be.
func start(t testing.TB) context.Context {
	t.Helper()
	path, err := find()
	if err != nil {
		notrun.Skip(t)
	}
	browser.Lock()
	defer browser.Unlock()
	if browser.ctx != nil {
		return browser.ctx
	}
	dir, err := os.MkdirTemp("", "browsertest-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.UserDataDir(dir), chromedp.WSURLReadTimeout(patience))
	ctx, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stopBrowser := chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		stopBrowser()
		stopAllocator()
		os.RemoveAll(dir)
		t.Fatalf("the browser does not start: %v", err)
	}
	browser.ctx, browser.stop, browser.dir = ctx, func() { stopBrowser(); stopAllocator() }, dir
	return ctx
}

func stop() {
	browser.Lock()
	defer browser.Unlock()
	if browser.ctx != nil {
		browser.stop()
		os.RemoveAll(browser.dir)
	}
}

// A Tab is an open page in the browser. It records the page's network requests and faults.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	faults   []string
	dialogs  []string
}

// Open opens an empty tab, which is closed after the test. Without a browser it skips the test, or fails it if CI is
// true.
func Open(t testing.TB) *Tab {
	t.Helper()
	tab := &Tab{t: t}
	ctx, cancel := chromedp.NewContext(start(t), chromedp.WithListener(tab.note))
	t.Cleanup(cancel)
	tab.ctx = ctx
	tab.do(
		enable(log.Enable), command(network.Enable, network.EnableParams{}), command(page.Enable, page.EnableParams{}),
		chromedp.EmulateViewport(1280, 900),
	)
	return tab
}

func command[P, R any](c cdp.Command[P, R], p P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, p)
		return err
	})
}

func enable(c cdp.Command[cdp.Empty, cdp.Empty]) chromedp.Action[chromedp.Void] {
	return command(c, cdp.Empty{})
}

// note records an event of the browser. It must return at once.
func (tab *Tab) note(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		tab.faults = append(tab.faults, "exception: "+e.ExceptionDetails.Text+" "+describe(e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			tab.faults = append(tab.faults, fmt.Sprintf("console %s: %v", e.Type, e.Args))
		}
	case *log.EventEntryAdded:
		tab.faults = append(tab.faults, fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *page.EventJavascriptDialogOpening:
		tab.dialogs = append(tab.dialogs, e.Message)
	}
}

func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return o.Description
}

// Requests returns the addresses that the page requested over a network: all except data, blobs and files.
func (tab *Tab) Requests() (list []string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, address := range tab.requests {
		if !strings.HasPrefix(address, "file:") && !strings.HasPrefix(address, "data:") &&
			!strings.HasPrefix(address, "blob:") {
			list = append(list, address)
		}
	}
	return list
}

// Faults returns what the page logged as errors and warnings: exceptions, what its policy forbade, requests that
// failed.
func (tab *Tab) Faults() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string(nil), tab.faults...)
}

// Dialogs returns the messages of the dialogs that scripts opened.
func (tab *Tab) Dialogs() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string(nil), tab.dialogs...)
}

func (tab *Tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	if err := chromedp.Do(tab.ctx, steps...); err != nil {
		tab.t.Fatalf("browser: %v", err)
	}
}

// Go opens an address.
func (tab *Tab) Go(address string) { tab.t.Helper(); tab.do(chromedp.Navigate(address)) }

// Reload loads the page again.
func (tab *Tab) Reload() { tab.t.Helper(); tab.do(chromedp.Reload()) }

// Size sets the size of the window.
func (tab *Tab) Size(width, height int) { tab.t.Helper(); tab.Scale(width, height, 1) }

// Scale sets the size of the window, and of how many pixels a unit of it is shown.
func (tab *Tab) Scale(width, height int, pixels float64) {
	tab.t.Helper()
	tab.do(chromedp.EmulateViewport(int64(width), int64(height), chromedp.EmulateScale(pixels)))
}

// Media sets a medium ("screen", "print") and a color scheme ("light", "dark").
func (tab *Tab) Media(medium, scheme string) {
	tab.t.Helper()
	tab.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium,
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

// WithoutScripts disables scripts on the next page.
func (tab *Tab) WithoutScripts() {
	tab.t.Helper()
	tab.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
}

// Keys presses keys: characters, or the codes of package kb of chromedp.
func (tab *Tab) Keys(keys string) { tab.t.Helper(); tab.do(chromedp.KeyEvent(keys)) }

// Click clicks in the middle of the first element of a selector, as a person would.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.do(chromedp.Click(chromedp.CSS(selector)))
}

// Eval returns the value of a script through JSON. It waits for a promise.
func Eval[T any](tab *Tab, script string) T {
	tab.t.Helper()
	v, err := chromedp.Run(tab.ctx, chromedp.Evaluate[json.RawMessage](script, chromedp.EvalAwaitPromise))
	if err != nil {
		tab.t.Fatalf("script %s: %v", script, err)
	}
	var value T
	if err := json.Unmarshal(v, &value); err != nil {
		tab.t.Fatalf("script %s returned %s: %v", script, v, err)
	}
	return value
}

// Wait waits until a script's value is true. If it does not become true, the test fails with the page's text.
func (tab *Tab) Wait(script string) {
	tab.t.Helper()
	for end := time.Now().Add(patience); !Eval[bool](tab, "Boolean("+script+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			tab.t.Fatalf("waited %v for %s; faults %q; the page:\n%.3000s", patience, script, tab.Faults(),
				Eval[string](tab, "document.body.innerText"))
		}
	}
}

// Settle waits two frames, until the page has drawn everything.
func (tab *Tab) Settle() {
	tab.t.Helper()
	Eval[bool](tab, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// Screenshot writes the window, or if whole is set all of the page, to a PNG file.
func (tab *Tab) Screenshot(path string, whole bool) {
	tab.t.Helper()
	shot := chromedp.CaptureScreenshot()
	if whole {
		shot = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(tab.ctx, shot)
	if err == nil {
		err = os.WriteFile(path, png, 0o644)
	}
	if err != nil {
		tab.t.Fatalf("screenshot: %v", err)
	}
}

package record_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/record"
)

func asking(text string, seed uint32) llm.Request {
	return llm.Request{Seed: seed, Messages: []llm.Message{
		{Role: llm.System, Content: "Improve the program."}, {Role: llm.User, Content: text}}}
}

var errServer = &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Code: 500, Err: errors.New("server")}

// outcomes are the ways a call ends that a recording must bring back.
var outcomes = []struct {
	reason string
	reply  llm.Reply
	err    error
}{
	{"an answer", llm.Reply{Text: "```js\nif (a < b && c) {}\n```\u2028", Reasoning: "hm", Attempts: []llm.Attempt{
		{Status: llm.Stalled, Streamed: 3, MaxTokens: 10, Latency: 3 * time.Second, Err: "silence"},
		{Status: llm.OK, FinishReason: "stop", MaxTokens: 10, Latency: 7, Model: "m", ActiveParams: 5, Endpoint: "a",
			Usage: &llm.Usage{PromptTokens: 9, CachedTokens: 8, CompletionTokens: 7}}}}, nil},
	{"an empty answer without attempts", llm.Reply{}, nil},
	{"a server that fails", llm.Reply{Attempts: []llm.Attempt{{Status: llm.Failed, Kind: llm.KindServer}}},
		&llm.Error{Status: llm.Failed, Kind: llm.KindServer, Endpoint: "http://h/v1", Code: 503, Err: errors.New("busy\nnow")}},
	{"a rate limit, wrapped", llm.Reply{}, fmt.Errorf("%w (tried 3 times)",
		&llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Code: 429, RetryAfter: 9 * time.Second, Err: errors.New("slow down")})},
	{"a key that is no good", llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindAuth, Code: 401, Err: errors.New("no")}},
	{"a timeout whose cause is the context's", llm.Reply{Text: "half"},
		&llm.Error{Status: llm.Timeout, Err: fmt.Errorf("no answer within 1s: %w", context.DeadlineExceeded)}},
	{"a dead end of another make", llm.Reply{}, fmt.Errorf("no GPU: %w", llm.ErrUnavailable)},
	{"a dead end inside an Error", llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindOther, Err: llm.ErrUnavailable}},
	{"one beside an Error, which decides", llm.Reply{},
		fmt.Errorf("%w: %w", &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("x")}, llm.ErrUnavailable)},
	{"another make's timeout", llm.Reply{}, fmt.Errorf("mine: %w", context.DeadlineExceeded)},
	{"another make's cancel", llm.Reply{}, fmt.Errorf("mine: %w", context.Canceled)},
	{"a run that comes to an end", llm.Reply{Attempts: make([]llm.Attempt, 1)}, fmt.Errorf("%w (not tried again: %w)", errServer, llm.ErrDraining)},
	{"an error of no class", llm.Reply{}, errors.New("odd")},
}

func TestRecordingBringsEverythingBack(t *testing.T) {
	var file bytes.Buffer
	at := 0
	r := record.New(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		return outcomes[at].reply, outcomes[at].err
	}), &file)
	for i := range outcomes {
		at = i
		r.Generate(t.Context(), asking("p", uint32(i)))
	}
	back, err := record.ReplayFrom(&file)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range outcomes {
		reply, err := back.Generate(t.Context(), asking("p", uint32(i)))
		if diff := cmp.Diff(want.reply, reply); diff != "" {
			t.Errorf("%s: (-recorded +replayed)\n%s", want.reason, diff)
		}
		sameError(t, want.reason, want.err, err)
	}
	if back.Left() != 0 || back.Torn() != 0 {
		t.Errorf("%d left, %d torn", back.Left(), back.Torn())
	}
}

func sameError(t *testing.T, reason string, want, got error) {
	t.Helper()
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("%s: error %q, want %q", reason, fmt.Sprint(got), fmt.Sprint(want))
	}
	if llm.StatusOf(want) != llm.StatusOf(got) || llm.Unavailable(want) != llm.Unavailable(got) || llm.Retryable(want) != llm.Retryable(got) {
		t.Errorf("%s: %v is classed otherwise than when it was recorded", reason, got)
	}
	for _, sentinel := range []error{llm.ErrDraining, context.Canceled, context.DeadlineExceeded, llm.ErrUnavailable} {
		if errors.Is(want, sentinel) != errors.Is(got, sentinel) {
			t.Errorf("%s: errors.Is(%v) is %v", reason, sentinel, errors.Is(got, sentinel))
		}
	}
	w, ok := errors.AsType[*llm.Error](want)
	g, also := errors.AsType[*llm.Error](got)
	if ok != also {
		t.Fatalf("%s: an *llm.Error: %v, want %v", reason, also, ok)
	}
	if ok && (w.Error() != g.Error() || w.Code != g.Code || w.RetryAfter != g.RetryAfter || w.Endpoint != g.Endpoint || w.Kind != g.Kind) {
		t.Errorf("%s: %#v, want %#v", reason, g, w)
	}
}

func TestReplayInOrderOfOccurrence(t *testing.T) {
	var file bytes.Buffer
	n := 0
	r := record.New(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		n++
		return llm.Reply{Text: fmt.Sprint(n)}, nil
	}), &file)
	for _, seed := range []uint32{1, 2, 1, 1} {
		r.Generate(t.Context(), asking("p", seed))
	}
	back, err := record.ReplayFrom(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		seed uint32
		text string
	}{{1, "1"}, {1, "3"}, {2, "2"}, {1, "4"}} {
		reply, err := back.Generate(t.Context(), asking("p", want.seed))
		if err != nil || reply.Text != want.text {
			t.Errorf("seed %d: %q, %v; want %q", want.seed, reply.Text, err, want.text)
		}
	}
	_, err = back.Generate(t.Context(), asking("p", 1))
	if !errors.Is(err, record.ErrNotRecorded) || !strings.Contains(err.Error(), "3 times") {
		t.Errorf("a fourth time: %v", err)
	}
}

func TestReplayPassesOverWhatWasGivenUp(t *testing.T) {
	gaveUp := &llm.Error{Status: llm.Canceled, Err: context.Canceled}
	for _, tt := range []struct {
		reason  string
		errs    []error
		replies int
	}{
		{"a call given up in one life and made in the next", []error{gaveUp, nil}, 1},
		{"a retry given up because the run came to an end",
			[]error{fmt.Errorf("%w (not tried again: %w)", errServer, llm.ErrDraining), nil}, 1},
		{"given up in both", []error{gaveUp, gaveUp}, 1},
		{"a failure is what the model's side said, and stays", []error{errors.New("x"), nil}, 2},
		{"given up last", []error{nil, gaveUp}, 2},
	} {
		var file bytes.Buffer
		at := 0
		r := record.New(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Text: fmt.Sprint(at)}, tt.errs[at]
		}), &file)
		for i := range tt.errs {
			at = i
			r.Generate(t.Context(), asking("p", 1))
		}
		back, err := record.ReplayFrom(&file)
		if err != nil {
			t.Fatal(err)
		}
		if back.Left() != tt.replies {
			t.Errorf("%s: %d exchanges, want %d", tt.reason, back.Left(), tt.replies)
		}
		last := len(tt.errs) - tt.replies
		reply, err := back.Generate(t.Context(), asking("p", 1))
		if reply.Text != fmt.Sprint(last) || (err == nil) != (tt.errs[last] == nil) {
			t.Errorf("%s: %q, %v", tt.reason, reply.Text, err)
		}
	}
}

func TestReplaySaysWhatWasNotRecorded(t *testing.T) {
	var file bytes.Buffer
	r := record.New(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, nil }), &file)
	long := "score 0.364237\nlet n = 26;\nlet radii = [0.1, 0.2];\nreturn radii;\n"
	for _, req := range []llm.Request{
		asking(long, 12), asking(long, 90), asking("another program altogether", 7),
		{Messages: asking(long, 0).Messages, Seed: 8, Temperature: new(0.5)},
	} {
		r.Generate(t.Context(), req)
	}
	recording := file.Bytes()
	for _, tt := range []struct {
		reason string
		req    llm.Request
		want   string
	}{
		{"another seed", asking(long, 10), "is not among the 4 exchanges; its prompt is (line 1), with another seed or sampling"},
		{"other sampling", llm.Request{Messages: asking(long, 0).Messages, Seed: 12, TopP: new(0.0)}, "its prompt is (line 1)"},
		{"a parent that scored otherwise", asking("Score: 0.3\n"+long, 12), `is not among the 4 exchanges, nor is its prompt, whose last message begins "Score: 0.3..."`},
		{"a long line, in characters of several bytes", asking(strings.Repeat("é", 100), 12), `whose last message begins "` + strings.Repeat("é", 60) + `..."`},
		{"a short one", asking("é", 12), `whose last message begins "é"`},
		{"a message less", llm.Request{Seed: 12, Messages: asking(long, 0).Messages[:1]}, `whose last message begins "Improve the program."`},
		{"no message", llm.Request{Seed: 12}, `whose last message begins ""`},
	} {
		back, err := record.ReplayFrom(bytes.NewReader(recording))
		if err != nil {
			t.Fatal(err)
		}
		_, err = back.Generate(t.Context(), tt.req)
		if !errors.Is(err, record.ErrNotRecorded) || !llm.Unavailable(err) {
			t.Errorf("%s: %v is not ErrNotRecorded, or does not stop a run", tt.reason, err)
		}
		if !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s:\n got %v\nwant %s", tt.reason, err, tt.want)
		}
		if strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %q is more than a line", tt.reason, err)
		}
	}
	empty, _ := record.ReplayFrom(strings.NewReader(""))
	if _, err := empty.Generate(t.Context(), asking("p", 1)); !errors.Is(err, record.ErrNotRecorded) {
		t.Errorf("an empty recording: %v", err)
	}
}

func TestReplayTakesNothingForAnEndedContext(t *testing.T) {
	var file bytes.Buffer
	r := record.New(llm.Func(shout), &file)
	r.Generate(t.Context(), asking("p", 1))
	back, _ := record.ReplayFrom(&file)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := back.Generate(ctx, asking("p", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if reply, err := back.Generate(t.Context(), asking("p", 1)); err != nil || reply.Text != "p!" {
		t.Errorf("%q, %v: the exchange was used up", reply.Text, err)
	}
}

func TestReplayRejects(t *testing.T) {
	line := recordingOf(t, 1)
	for _, tt := range []struct{ reason, file, want string }{
		{"a broken line in the middle", line + "{\"v\":1,\"key\":\"torn\n" + line, "line 2"},
		{"a broken last line that was ended: it was not torn", line + "{\"v\":1,\n", "line 2"},
		{"two objects in a line", strings.TrimSuffix(line, "\n") + line, "line 1"},
		{"another version", strings.Replace(line, `"v":1`, `"v":2`, 1), "version 2"},
		{"no request", `{"v":1,"reply":{}}` + "\n", "no request"},
		{"a request that is no object", `{"v":1,"request":null,"reply":{}}` + "\n", "no request"},
		{"no reply", `{"v":1,"request":{}}` + "\n", "no reply"},
		{"a seed that does not fit", strings.Replace(line, `"seed":0`, `"seed":4294967296`, 1), "line 1"},
		{"a file that is something else", "hello", "line 1"},
		{"a JSON file that is something else", `{"task":"cp","trajectory":[]}`, "line 1"},
	} {
		back, err := record.ReplayFrom(strings.NewReader(tt.file))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "record: ") {
			t.Errorf("%s: %v, error %v; want one with %q", tt.reason, back, err, tt.want)
		}
	}
	if _, err := record.Replay(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func recordingOf(t testing.TB, n int) string {
	var file bytes.Buffer
	r := record.New(llm.Func(shout), &file)
	for i := range n {
		if _, err := r.Generate(t.Context(), asking("é <b>\n", uint32(i))); err != nil {
			t.Fatal(err)
		}
	}
	return file.String()
}

// Wherever a writer was killed, what stands before is there, and recording goes on behind it.
func TestRecordingCutAnywhere(t *testing.T) {
	whole := recordingOf(t, 2)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	for n := range len(whole) + 1 {
		if err := os.WriteFile(path, []byte(whole[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(whole[:n], "\n")
		torn := n - strings.LastIndexByte(whole[:n], '\n') - 1
		if n < len(whole) && whole[n] == '\n' { // all but the newline is an exchange
			lines, torn = lines+1, 0
		}
		back, err := record.Replay(path)
		if err != nil || back.Left() != lines || back.Torn() != torn {
			t.Fatalf("cut at %d: %v, error %v; want %d exchanges and %d bytes torn", n, back, err, lines, torn)
		}
		r, err := record.File(llm.Func(shout), path)
		if err != nil || r.Torn() != int64(torn) {
			t.Fatalf("cut at %d: recording on: %v; torn %d, want %d", n, err, r.Torn(), torn)
		}
		r.Generate(t.Context(), asking("more", 9))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if back, err = record.Replay(path); err != nil || back.Left() != lines+1 || back.Torn() != 0 {
			t.Fatalf("cut at %d, then one more: %v, error %v", n, back, err)
		}
	}
}

func TestRecordFileLeavesOtherFilesAlone(t *testing.T) {
	for _, content := range []string{"hello", "hello\n", `{"task":"cp"}`, recordingOf(t, 1) + "hello\n" + recordingOf(t, 1)} {
		path := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := record.File(llm.Func(shout), path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%.20q: error %v", content, err)
		}
		if now, _ := os.ReadFile(path); string(now) != content {
			t.Errorf("%.20q was changed to %.20q", content, now)
		}
	}
	if _, err := record.File(llm.Func(shout), t.TempDir()); err == nil {
		t.Error("recording into a directory")
	}
}

// A line is in the file before Generate returns, so that nothing is acted on that is not there.
func TestRecordIsFlushedPerExchange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := record.New(llm.Func(shout), bufio.NewWriterSize(f, 1<<20))
	for i := range 3 {
		r.Generate(t.Context(), asking("p", uint32(i)))
		data, _ := os.ReadFile(path)
		if n := bytes.Count(data, []byte("\n")); n != i+1 {
			t.Errorf("%d lines after %d exchanges", n, i+1)
		}
		for line := range bytes.Lines(data) {
			if !json.Valid(line) {
				t.Errorf("%q is not JSON", line)
			}
		}
	}
}

// fullDisk takes n lines, and of the next one a part.
type fullDisk struct {
	bytes.Buffer
	n int
}

func (w *fullDisk) Write(p []byte) (int, error) {
	if w.n--; w.n < 0 {
		n, _ := w.Buffer.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	return w.Buffer.Write(p)
}

func TestRecordStopsBeforeTheNextCallIsPaidFor(t *testing.T) {
	disk := &fullDisk{n: 2}
	asked := 0
	r := record.New(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		asked++
		reply, _ := shout(ctx, req)
		if req.Seed == 99 {
			return reply, &llm.Error{Status: llm.Failed, Kind: llm.KindServer, Err: errors.New("busy")}
		}
		return reply, nil
	}), disk)
	for i := range 2 {
		if _, err := r.Generate(t.Context(), asking("p", uint32(i))); err != nil {
			t.Fatal(err)
		}
	}
	reply, err := r.Generate(t.Context(), asking("p", 99))
	if !errors.Is(err, syscall.ENOSPC) || !llm.Unavailable(err) || reply.Text != "p!" || len(reply.Attempts) != 1 {
		t.Errorf("the write that failed: %+v, %v; want the reply, and an error that ends the run", reply, err)
	}
	reply, err = r.Generate(t.Context(), asking("p", 3))
	if !errors.Is(err, syscall.ENOSPC) || !llm.Unavailable(err) || len(reply.Attempts) != 0 || asked != 3 {
		t.Errorf("after it: %+v, %v, asked %d times; want nothing to be sent", reply, err, asked)
	}
	if err := r.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close: %v", err)
	}
	back, err := record.ReplayFrom(&disk.Buffer)
	if err != nil || back.Left() != 2 || back.Torn() == 0 {
		t.Errorf("%v, %v; want what was written before", back, err)
	}
}

func TestRecordRefusesWhatItCannotWrite(t *testing.T) {
	asked := false
	r := record.New(llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		asked = true
		return llm.Reply{}, nil
	}), io.Discard)
	_, err := r.Generate(t.Context(), llm.Request{TopP: new(math.NaN())})
	if err == nil || asked || llm.Unavailable(err) || !strings.Contains(err.Error(), "top-p NaN") {
		t.Errorf("error %v, asked %v", err, asked)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Generate(t.Context(), asking("p", 1)); err == nil || asked {
		t.Errorf("after Close: error %v, asked %v", err, asked)
	}
}

// A call that waited for a place and was given up there was never sent.
func TestRecordLeavesOutWhatWasNotSent(t *testing.T) {
	var file bytes.Buffer
	full := llm.Limit(llm.Func(shout), 1)
	r := record.New(full, &file)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Generate(ended, asking("p", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := r.Generate(llm.WithTrace(t.Context(), &llm.Trace{Drain: ended.Done()}), asking("p", 1)); err != nil && !errors.Is(err, llm.ErrDraining) {
		t.Errorf("error %v", err)
	} else if err != nil && file.Len() > 0 {
		t.Errorf("recorded %s", file.String())
	}
}

func TestRecordAndReplayTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	r, err := record.File(llm.Func(shout), path)
	if err != nil {
		t.Fatal(err)
	}
	const calls, seeds = 400, 40 // every request ten times
	together := func(l llm.LLM) {
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				reply, err := l.Generate(t.Context(), asking(strings.Repeat("x", 2000), uint32(i%seeds)))
				if err != nil || !strings.HasSuffix(reply.Text, "x!") {
					t.Errorf("%v: %q, %v", l, reply.Text, err)
				}
			})
		}
		wg.Wait()
	}
	together(r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	back, err := record.Replay(path)
	if err != nil {
		t.Fatal(err)
	}
	together(back)
	if back.Left() != 0 {
		t.Errorf("%d left", back.Left())
	}
}

func TestRecordPrintsItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	r, err := record.File(llm.Func(shout), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, want := r.String(), "Record(llm.Func, "+path+")"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	back, _ := record.ReplayFrom(strings.NewReader(recordingOf(t, 2) + `{"v":1,`))
	if got, want := back.String(), "Replay(a reader: 2 exchanges, and 7 bytes of a torn line)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzReplay holds that no file makes the reader panic or hang, and that what it accepts is
// answered, once each.
func FuzzReplay(f *testing.F) {
	line := recordingOf(f, 1)
	f.Add([]byte(line + line))
	f.Add([]byte(line[:len(line)/2]))
	f.Add([]byte(line + "\x00\x00\x00"))
	f.Add([]byte("\n\n" + line + "\n{}"))
	f.Add([]byte(`{"v":1,"request":{"messages":[{}],"temperature":1e308},"reply":{"attempts":[{"usage":{}}]},"error":{"text":"x","status":"canceled","cause_is":["?","canceled"],"is":["unavailable"]}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		back, err := record.ReplayFrom(bytes.NewReader(file))
		if err != nil {
			return
		}
		left := back.Left()
		for line := range bytes.Lines(file) {
			var x struct{ Request *llm.Request }
			if json.Unmarshal(line, &x) != nil || x.Request == nil {
				continue
			}
			_, err := back.Generate(t.Context(), *x.Request)
			if err != nil {
				_, _, _ = err.Error(), llm.Unavailable(err), llm.StatusOf(err)
			}
			if now := back.Left(); !errors.Is(err, record.ErrNotRecorded) {
				left = now
			}
		}
		if back.Left() != left || back.Left() < 0 {
			t.Errorf("%d left, want %d", back.Left(), left)
		}
		back.Generate(t.Context(), asking("not there", 12345))
	})
}

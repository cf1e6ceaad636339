package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

const limit = 2 * time.Second

// Calls that end by a limit end at it, on both sides, with what was streamed, and are told apart. These tests wait for
// limits, so they wait together.
func TestLimits(t *testing.T) {
	noLeak(t)
	some, first := &llm.Usage{PromptTokens: 9, CompletionTokens: 25}, &llm.Usage{PromptTokens: 9}
	one := &llm.Usage{PromptTokens: 9, CompletionTokens: 1}
	short := model
	short.Timeout = limit
	t.Run("", func(t *testing.T) {
		for _, tt := range []struct {
			fault    llmtest.Fault
			cfg      openai.Config
			status   llm.Status
			says     string
			usage    *llm.Usage
			streamed int
		}{
			{"hang", openai.Config{Whole: true, Model: short}, llm.Timeout, "no answer within 2s", nil, 0},
			{"hang body", openai.Config{Whole: true, Model: short}, llm.Timeout, "no answer within 2s", nil, 0},
			{"hang body", openai.Config{Model: short}, llm.Timeout, "no answer within 2s", some, 25},
			{"hang", openai.Config{Stream: openai.Stream{FirstToken: limit}}, llm.Stalled, "no token within 2s", nil, 0},
			{"hang first token", openai.Config{Stream: openai.Stream{FirstToken: limit}}, llm.Stalled, "no token within 2s",
				first, 0},
			{"hang body", openai.Config{Stream: openai.Stream{Silence: limit}}, llm.Stalled, "silent for 2s", some, 25},
			{"drip", openai.Config{Stream: openai.Stream{MinRate: 10, Window: limit, Silence: -1}}, llm.Stalled,
				"fewer than 20 tokens in 2s", one, 1},
		} {
			t.Run(fmt.Sprint(tt.fault, " ", tt.says), func(t *testing.T) {
				t.Parallel()
				srv := serve(t, llmtest.Config{Fault: always(tt.fault), Reply: say(reply50), Drip: time.Hour})
				reply, err := open(t, srv.URL, tt.cfg).Generate(t.Context(), request)
				if len(reply.Attempts) != 1 {
					t.Fatalf("attempts %+v, error %v", reply.Attempts, err)
				}
				a := reply.Attempts[0]
				if a.Status != tt.status || llm.StatusOf(err) != tt.status || a.Kind != "" || a.Unsent || a.Latency < limit ||
					a.Streamed != tt.streamed || llm.Unavailable(err) {
					t.Errorf("attempt %+v, error %v", a, err)
				}
				if diff := cmp.Diff(tt.usage, a.Usage); diff != "" {
					t.Errorf("usage (-want +got):\n%s", diff)
				}
				if tt.status == llm.Timeout && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v is no deadline", err)
				}
				checkMessage(t, err, srv.URL, tt.says)
				wantGone(t, srv, tt.fault)
			})
		}
		t.Run("what is no token", testEndlessStreams)
	})
}

// wantGone waits until the server has noticed that its one client left.
func wantGone(t *testing.T, srv *llmtest.Server, fault llmtest.Fault) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := srv.Drain(ctx); err != nil {
		t.Fatalf("the server still waits for a client that left: %v", err)
	}
	gone := srv.Stats().Gone
	if len(gone) != 1 || gone[0].Fault != fault || gone[0].Seed != 40 || gone[0].After <= 0 {
		t.Errorf("clients that left: %+v, want the one", gone)
	}
}

func testEndlessStreams(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, ": ping\n\n"+delta(`"content":""`)); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}))
	t.Cleanup(srv.Close)
	_, err := open(t, srv.URL, openai.Config{Stream: openai.Stream{FirstToken: limit}}).Generate(t.Context(), request)
	if llm.StatusOf(err) != llm.Stalled {
		t.Errorf("status %s", llm.StatusOf(err))
	}
	checkMessage(t, err, srv.URL, "no token within 2s")
}

func TestCancelIsNotATimeout(t *testing.T) {
	for _, tt := range []struct {
		reason string
		end    func(context.Context, *llmtest.Server) (context.Context, context.CancelFunc)
		is     error
		says   string
	}{
		{"Ctrl-C", func(ctx context.Context, srv *llmtest.Server) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			go func() {
				for srv.Stats().Sent == 0 && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				cancel(errors.New("interrupted"))
			}()
			return ctx, func() { cancel(nil) }
		}, context.Canceled, "(interrupted)"},
		{"the caller's deadline, not the model's", func(ctx context.Context, _ *llmtest.Server) (context.Context,
			context.CancelFunc) {
			return context.WithTimeout(ctx, limit)
		}, context.DeadlineExceeded, "the caller gave up"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, llmtest.Config{Fault: always("hang body"), Reply: say(reply50)})
			ctx, cancel := tt.end(t.Context(), srv)
			defer cancel()
			reply, err := open(t, srv.URL, openai.Config{}).Generate(ctx, request)
			if len(reply.Attempts) != 1 || reply.Attempts[0].Status != llm.Canceled || llm.StatusOf(err) != llm.Canceled ||
				!errors.Is(err, tt.is) {
				t.Errorf("attempts %+v, error %v: want one that was canceled", reply.Attempts, err)
			}
			checkMessage(t, err, srv.URL, tt.says)
			wantGone(t, srv, "hang body")
		})
	}
}

func TestEndedContextSendsNothing(t *testing.T) {
	srv := serve(t, llmtest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reply, err := newClient(t, srv.URL, model).Generate(ctx, request)
	if !errors.Is(err, context.Canceled) || len(reply.Attempts) != 0 || srv.Stats().Calls != 0 {
		t.Errorf("error %v, attempts %v, %d calls", err, reply.Attempts, srv.Stats().Calls)
	}
}

// The budget is asked before a request is sent again in another form, and the journal is told of each attempt.
func TestTraceOfWhatIsSentAgain(t *testing.T) {
	srv := serve(t, llmtest.Config{Fault: always("400 max_tokens")})
	var sent, ended int
	full := errors.New("no budget left")
	for _, again := range []error{full, nil} {
		ctx := llm.WithTrace(t.Context(), &llm.Trace{
			Again: func(context.Context, llm.Request) error { return again },
			Send:  func(string) error { sent++; return nil },
			Ended: func(all []llm.Attempt) { ended += len(all) },
		})
		reply, err := open(t, srv.URL, openai.Config{}).Generate(ctx, request)
		e, _ := errors.AsType[*llm.Error](err)
		if want := map[bool]int{true: 1, false: 2}[again != nil]; len(reply.Attempts) != want || !errors.Is(err, again) ||
			again != nil && (e == nil || e.Kind != llm.KindBadRequest) {
			t.Errorf("%d attempts, error %v", len(reply.Attempts), err)
		}
	}
	if sent != 3 || ended != 3 {
		t.Errorf("%d attempts announced, %d ended; want 3", sent, ended)
	}
}

// Both sides count the same attempts, whatever happens to many of them at once.
func TestManyInFlightAgreeWithTheServer(t *testing.T) {
	for _, whole := range []bool{true, false} {
		t.Run(fmt.Sprint("whole ", whole), func(t *testing.T) { testManyInFlight(t, whole) })
	}
}

func testManyInFlight(t *testing.T, whole bool) {
	noLeak(t)
	var hung atomic.Int64
	mix := llmtest.Must("40% reset|cut body|500|html 200|hang|error field|close after stream|no finish reason|402")
	srv := serve(t, llmtest.Config{Latency: llmtest.Constant(5 * time.Millisecond),
		Fault: func(r llmtest.Request) llmtest.Fault {
			f := mix(r)
			if f == "hang" {
				hung.Add(1)
			}
			return f
		}})
	c := open(t, srv.URL, openai.Config{Whole: whole})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const calls = 200
	statuses := make(chan llm.Status, calls)
	for i := range calls {
		go func() {
			req := request
			req.Seed = uint32(i)
			reply, err := c.Generate(ctx, req)
			if len(reply.Attempts) != 1 || reply.Attempts[0].Status != llm.StatusOf(err) {
				t.Errorf("attempts %+v for error %v", reply.Attempts, err)
			}
			statuses <- llm.StatusOf(err)
		}()
	}
	for s := srv.Stats(); s.Calls < calls || s.InFlight > int(hung.Load()); s = srv.Stats() {
		time.Sleep(time.Millisecond)
	}
	count := map[llm.Status]int{}
	for range calls - int(hung.Load()) {
		count[<-statuses]++
	}
	cancel() // only those that hang are left
	for range hung.Load() {
		count[<-statuses]++
	}
	srv.Drain(t.Context())
	s := srv.Stats()
	want := map[llm.Status]int{llm.OK: s.Ended["answered"], llm.Canceled: s.Ended["left"],
		llm.Failed: s.Ended["refused"] + s.Ended["spoiled"] + s.Ended["broken off"]}
	if diff := cmp.Diff(want, count); diff != "" || s.Calls != calls || len(s.Gone) != int(hung.Load()) {
		t.Errorf("%d calls, %d clients gone; statuses (-server +client):\n%s", s.Calls, len(s.Gone), diff)
	}
	if count[llm.Failed] == 0 || hung.Load() == 0 {
		t.Errorf("no fault met: %v", count)
	}
}

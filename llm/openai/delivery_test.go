package openai_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// mute returns the URL of a server that takes connections and never says a word, so that no request
// under TLS can be sent to it.
func mute(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	var taking sync.WaitGroup
	taking.Go(func() {
		for conn, err := ln.Accept(); err == nil; conn, err = ln.Accept() {
			conns = append(conns, conn)
		}
	})
	t.Cleanup(func() {
		ln.Close()
		taking.Wait()
		for _, c := range conns {
			c.Close()
		}
	})
	return "https://" + ln.Addr().String() + "/v1"
}

// worstTokens is what attempts cost under the rule that charges the most, in tokens.
func worstTokens(attempts []llm.Attempt) float64 {
	for i := range attempts {
		attempts[i].ActiveParams = 0
	}
	return flops.Sum(slices.Values(attempts), 1, flops.WorstCase).TotalFLOPs / 2
}

// A limit that passes before there is a connection is a stall or a timeout as ever, but costs nothing.
func TestWhatIsNotSentCostsNothing(t *testing.T) {
	for _, tt := range []struct {
		reason string
		stream openai.Stream
		whole  bool
		want   llm.Status
		says   string
	}{
		{"the limit for the whole call", openai.Stream{}, true, llm.Timeout,
			"not sent, no connection came about: no answer within 300ms"},
		{"the limit for the first token", openai.Stream{FirstToken: 200 * time.Millisecond}, false, llm.Stalled,
			"not sent, no connection came about: stalled: no token within 200ms"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			noLeak(t)
			m := model
			if tt.want == llm.Timeout {
				m.Timeout = 300 * time.Millisecond
			}
			url := mute(t)
			c, err := openai.New(openai.Config{BaseURL: url, Model: m, Stream: tt.stream, Whole: tt.whole})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			reply, err := c.Generate(t.Context(), request)
			if len(reply.Attempts) != 1 {
				t.Fatalf("attempts %+v", reply.Attempts)
			}
			if a := reply.Attempts[0]; a.Status != tt.want || !a.Unsent || a.MaxTokens != 16000 || llm.StatusOf(err) != tt.want {
				t.Errorf("attempt %+v, error %v", a, err)
			}
			checkMessage(t, err, url, tt.says)
			if tokens := worstTokens(reply.Attempts); tokens != 0 {
				t.Errorf("charged %v tokens for a request that was not sent", tokens)
			}
		})
	}
}

// A call that is given up before there is a connection made no attempt, as one that waits for a place.
func TestCanceledBeforeItWasSentIsNoAttempt(t *testing.T) {
	for _, whole := range []bool{true, false} {
		noLeak(t)
		url := mute(t)
		c, err := openai.New(openai.Config{BaseURL: url, Model: model, Whole: whole})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		reply, err := c.Generate(ctx, request)
		if len(reply.Attempts) != 0 || llm.StatusOf(err) != llm.Canceled {
			t.Errorf("attempts %+v, error %v", reply.Attempts, err)
		}
		checkMessage(t, err, url, "not sent, no connection came about: the caller gave up")
	}
}

// One child is told that nothing answers, which ends the others, as a search does: what these cost does
// not depend on how far they had come.
func TestSiblingsOfARefusedCallCostNothing(t *testing.T) {
	noLeak(t)
	url := refusedURL(t)
	for range 20 {
		attempts := siblings(t, open(t, url, openai.Config{Whole: true}))
		if tokens := worstTokens(attempts); tokens != 0 || len(attempts) == 0 {
			t.Fatalf("%v tokens for %d attempts: %+v", tokens, len(attempts), attempts)
		}
		for _, a := range attempts {
			if a.Kind != llm.KindRefused || !a.Unsent {
				t.Fatalf("attempt %+v", a)
			}
		}
	}
}

// siblings makes 32 calls, all given up once one finds that the model is unavailable.
func siblings(t *testing.T, l llm.LLM) (attempts []llm.Attempt) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			reply, err := l.Generate(ctx, request)
			if llm.Unavailable(err) {
				cancel()
			}
			mu.Lock()
			defer mu.Unlock()
			attempts = append(attempts, reply.Attempts...)
		})
	}
	all.Wait()
	return attempts
}

// A transport of the caller's own that says nothing of what it sends may have sent it.
func TestWhatMayHaveBeenSentIsCharged(t *testing.T) {
	silent := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})}
	m := model
	m.Timeout = 50 * time.Millisecond
	c, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1", Model: m, Whole: true,
		Options: []option.RequestOption{option.WithHTTPClient(silent)}})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := c.Generate(t.Context(), request)
	if len(reply.Attempts) != 1 || reply.Attempts[0].Unsent || worstTokens(reply.Attempts) != 16000 ||
		strings.Contains(err.Error(), "not sent") {
		t.Errorf("attempts %+v, error %v", reply.Attempts, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

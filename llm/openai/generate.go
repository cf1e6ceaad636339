package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// Generate sends req. The attempt is in the reply even if there is an error, which is an [*llm.Error] with the same
// status. A request that was not sent, because it is malformed or ctx ended before, makes no attempt. If the endpoint
// refuses a field, Generate sends req again without it, as a further attempt.
func (c *Client) Generate(ctx context.Context, req llm.Request) (reply llm.Reply, err error) {
	if err := ctx.Err(); err != nil {
		return reply, fmt.Errorf("openai: not sent: %w", err)
	}
	t := llm.TraceOf(ctx)
	var fail *llm.Error
	for {
		c.mu.Lock()
		p, err := c.params(req)
		c.mu.Unlock()
		if err != nil {
			return reply, &llm.Error{Status: llm.Failed, Kind: llm.KindBadRequest, Endpoint: c.cfg.BaseURL, Err: err}
		}
		if fail != nil {
			err = t.Again(ctx, req)
		}
		if err == nil {
			err = t.Send(c.cfg.Model.Key)
		}
		switch {
		case err != nil && fail != nil:
			return reply, fmt.Errorf("%w (not sent again: %w)", fail, err)
		case err != nil:
			return reply, err
		}
		if fail = c.attempt(ctx, &reply, req, p); fail == nil {
			return reply, nil
		}
		if r, ok := errors.AsType[*refusal](fail.Err); !ok || !c.learn(p, r) {
			return reply, fail
		}
	}
}

// Announces returns true, see [llm.Announces].
func (c *Client) Announces() bool { return true }

// attempt makes one attempt, which it adds to reply unless it was canceled before it was sent.
func (c *Client) attempt(ctx context.Context, reply *llm.Reply, req llm.Request,
	p sdk.ChatCompletionNewParams) (fail *llm.Error) {
	a := llm.Attempt{Status: llm.OK, Endpoint: c.cfg.BaseURL, Model: c.cfg.Model.Key,
		ActiveParams: c.cfg.Model.ActiveParams, MaxTokens: or(req.MaxTokens, c.cfg.Model.MaxTokens)}
	defer func(before int) { llm.TraceOf(ctx).Ended(slices.Clone(reply.Attempts[before:])) }(len(reply.Attempts))
	var sought, got atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { sought.Store(true) }, GotConn: func(httptrace.GotConnInfo) { got.Store(true) }})
	start := time.Now()
	t, err := c.ask(traced, p)
	a.Latency = time.Since(start)
	text, calls := t.answer(len(req.Messages))
	a.Usage, a.Capped = t.bounded(llm.PromptTokens(req)+c.extra, a.MaxTokens)
	if a.FinishReason = printable.Excerpt(c.clean(t.finish), 64); !t.whole {
		a.Streamed = min(t.seen(), max(a.MaxTokens, t.chunks))
	}
	if err == nil {
		if name := c.cfg.Model.Name; !strings.HasPrefix(strings.ToLower(t.model), strings.ToLower(name)) && t.model != "" {
			c.notice("model", "the answers are of %q, and %q was asked for, whose size and price are booked", t.model, name)
		}
		reply.Text, reply.Reasoning, reply.Calls = text, validText(t.reasoning), calls
		reply.Attempts = append(reply.Attempts, a)
		return nil
	}
	fail = c.classify(err)
	if a.Unsent = sought.Load() && !got.Load(); a.Unsent && fail.Status != llm.Failed {
		fail.Err = fmt.Errorf("not sent, no connection came about: %w", fail.Err)
	}
	a.Status, a.Kind, a.Err = fail.Status, fail.Kind, fail.Err.Error()
	if !a.Unsent || a.Status != llm.Canceled {
		reply.Attempts = append(reply.Attempts, a)
	}
	return fail
}

const eventStream = "text/event-stream" // the media type of streams

// ask makes one call within the model's timeout. Even with an error the transcript holds what arrived.
func (c *Client) ask(ctx context.Context, p sdk.ChatCompletionNewParams) (t *transcript, err error) {
	call, cancel := context.WithTimeoutCause(ctx, c.cfg.Model.Timeout, &llm.Error{Status: llm.Timeout,
		Err: fmt.Errorf("no answer within %v: %w", c.cfg.Model.Timeout, context.DeadlineExceeded)})
	defer cancel()
	call, end := context.WithCancelCause(call)
	defer end(nil)
	limits, accept := c.cfg.Stream, eventStream
	if p.ExtraFields()["stream"] == nil {
		limits, accept = Stream{}, "application/json"
	}
	w := limits.watch(end)
	defer w.finish(0)
	t = &transcript{tools: len(p.Tools) > 0}
	var resp *http.Response
	_, err = c.chat.New(call, p, option.WithHeader("Accept", accept), option.WithResponseBodyInto(&resp))
	if err == nil {
		defer resp.Body.Close()
		err = t.read(resp, accept == eventStream, w)
	}
	judged := errors.As(err, new(*llm.Error)) || errors.As(err, new(*refusal))
	switch {
	case err == nil, t.finish != "" && !judged: // complete, whatever became of the connection
		return t, t.judge()
	case call.Err() == nil || judged:
		return t, err
	case errors.As(context.Cause(call), new(*llm.Error)): // one of our limits
		return t, context.Cause(call)
	}
	return t, &llm.Error{Status: llm.Canceled,
		Err: fmt.Errorf("the caller gave up (%v): %w", context.Cause(call), ctx.Err())}
}

// A watch ends a stream that stalls. One goroutine reads the stream and calls its methods.
type watch struct {
	Stream
	end     func(error) // called when a limit is exceeded, perhaps by several goroutines at once
	silence *time.Timer
	rate    *time.Timer  // of a Window
	begun   bool         // whether a token came
	tokens  atomic.Int64 // in this Window
}

// watch starts a watch on a stream.
func (s Stream) watch(end func(error)) *watch {
	w := &watch{Stream: s, end: end, silence: time.NewTimer(0)}
	w.rate = time.AfterFunc(math.MaxInt64, func() {
		floor := int64(math.Ceil(min(s.MinRate*s.Window.Seconds(), 1e9)))
		if w.tokens.Swap(0) < floor {
			w.stall("fewer than %d tokens in %v", floor, s.Window)
		} else {
			w.rate.Reset(s.Window)
		}
	})
	w.wait(s.FirstToken, "no token within %v")
	return w
}

func (w *watch) stall(format string, args ...any) {
	w.end(&llm.Error{Status: llm.Stalled, Err: fmt.Errorf("stalled: "+format, args...)})
}

// wait ends the stream unless it is called again within d. 0 or less means never.
func (w *watch) wait(d time.Duration, limit string) {
	if w.silence.Stop(); d > 0 {
		w.silence = time.AfterFunc(d, func() { w.stall(limit, d) })
	}
}

// progress records n tokens.
func (w *watch) progress(n int) {
	w.tokens.Add(int64(n))
	if !w.begun && w.MinRate > 0 && w.Window > 0 {
		w.rate.Reset(w.Window)
	}
	w.begun = true
	w.wait(w.Silence, "silent for %v")
}

// finish records that the answer is complete, and limits the wait for what follows. 0 stops the watch.
func (w *watch) finish(d time.Duration) {
	w.rate.Stop()
	w.wait(d, "nothing more within %v after the end of the answer")
}

// exchange is the middleware around each request. It makes a *refusal of a reply without success. A connection is not
// used again after a stream: llama.cpp closes it then, though it says that it keeps it, and loses the next request.
func exchange(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	req.Close = req.Header.Get("Accept") == eventStream
	resp, err := next(req)
	if err != nil || resp.StatusCode < 300 {
		return resp, err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // the status decides, even without all of its words
	return nil, readRefusal(resp.StatusCode, resp, body)
}

// read reads a reply: a stream, or an answer in one piece, which may also come where a stream was asked for.
func (t *transcript) read(resp *http.Response, stream bool, w *watch) error {
	in := &tap{r: resp.Body, left: maxText}
	buffered := bufio.NewReader(in)
	if first, _ := buffered.Peek(1); !stream || bytes.ContainsAny(first, "{[<") {
		body, err := io.ReadAll(buffered)
		if err != nil {
			return err
		}
		t.done, t.whole = true, true
		return t.add("message", "", body)
	}
	// The SDK's decoder needs an empty line after the last event, which some servers leave out.
	lines := io.MultiReader(buffered, strings.NewReader("\n\n"))
	events := ssestream.NewDecoder(&http.Response{Header: resp.Header, Body: io.NopCloser(lines)})
	for !t.done && events.Next() {
		in.left = maxText
		complete := t.finish != ""
		n, err := t.addEvent(events.Event())
		switch {
		case err != nil && !complete:
			return err
		case t.done:
			w.finish(100 * time.Millisecond)
			io.CopyN(io.Discard, buffered, 1<<10) // so that the server sees its answer read to the end
		case n > 0 && !complete:
			w.progress(n)
		}
		if t.finish != "" && !complete {
			w.finish(5 * time.Second) // for the usage
		}
	}
	if r := lateError(in.tail); r != nil && t.finish == "" {
		return r
	}
	return events.Err()
}

// A tap bounds how much is read of a reply from one event to the next, and keeps the last bytes.
type tap struct {
	r    io.Reader
	left int
	tail []byte
}

const maxText = 16 << 20 // bytes of an answer: some forty times 100,000 tokens

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.r.Read(p[:min(len(p), t.left+1)]) // one byte more than allowed, to notice excess
	if t.left -= n; t.left < 0 {
		return 0, broken("the body is longer than %d bytes", maxText)
	}
	const kept = 4 << 10
	if t.tail = append(t.tail, p[:n]...); len(t.tail) > 2*kept {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-kept:]...)
	}
	return n, err
}

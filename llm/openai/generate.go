package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// errTimeout distinguishes Model.Timeout from a deadline of the caller.
var errTimeout = errors.New("openai: Model.Timeout passed")

// Generate sends req once. The attempt is in the reply even if there is an error, which is an [*llm.Error] with the
// same status. A request that was not sent, because it is malformed or ctx ended before, makes no attempt. If a stream
// or its options are refused, Generate sends req again without them, as a further attempt.
func (c *Client) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, fmt.Errorf("openai: not sent: %w", err)
	}
	b, err := c.body(req)
	if err != nil {
		return llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindBadRequest, Endpoint: c.cfg.BaseURL, Err: err}
	}
	return c.generate(ctx, req, b)
}

// Announces returns true, see [llm.Announces].
func (c *Client) Announces() bool { return true }

// generate sends req, in other forms as long as the form is refused.
func (c *Client) generate(ctx context.Context, req llm.Request, b *body) (llm.Reply, error) {
	var reply llm.Reply
	t := llm.TraceOf(ctx)
	if no := t.Send(c.cfg.Model.Key); no != nil {
		return reply, no
	}
	for f, again := c.forms.get(), true; ; {
		fail := c.attempt(ctx, &reply, b, func(ctx context.Context) (answer, *llm.Error) { return c.ask(ctx, *b, f) })
		if fail == nil {
			return reply, nil
		}
		if f, again = c.forms.refused(f, fail); !again {
			return reply, fail
		}
		no := t.Again(ctx, req)
		if no == nil {
			no = t.Send(c.cfg.Model.Key)
		}
		if no != nil {
			return reply, fmt.Errorf("%w (not sent again: %w)", fail, no)
		}
	}
}

// ask makes one call in the form f.
func (c *Client) ask(ctx context.Context, b body, f form) (answer, *llm.Error) {
	b = f.in(b)
	if f != whole {
		return c.askStream(ctx, &b, f)
	}
	ans, fail := c.askWhole(ctx, &b)
	if fail == nil {
		c.forms.accepted(f)
	}
	return ans, fail
}

// attempt makes one attempt by ask and adds it to reply, unless it was canceled before it was sent. The context's Trace
// knows that the attempt is sent, and is told its end.
func (c *Client) attempt(ctx context.Context, reply *llm.Reply, b *body,
	ask func(context.Context) (answer, *llm.Error)) *llm.Error {
	a := llm.Attempt{
		Status:       llm.OK,
		MaxTokens:    b.limit(),
		Model:        c.cfg.Model.Key,
		ActiveParams: c.cfg.Model.ActiveParams,
		Endpoint:     c.cfg.BaseURL,
	}
	before := len(reply.Attempts)
	defer func() { llm.TraceOf(ctx).Ended(slices.Clone(reply.Attempts[before:])) }()
	way := newDelivery(c.cfg.HTTPClient)
	start := time.Now()
	ans, fail := ask(way.watch(ctx))
	a.Latency = time.Since(start)
	a.Usage, a.Capped = c.bounded(b, ans)
	a.FinishReason, a.Streamed = shorten(c.hide(printable.Line(ans.finish)), maxFinish), ans.streamed
	if fail == nil {
		reply.Text, reply.Reasoning = ans.text, ans.reasoning
		reply.Calls = named(ans.calls, len(b.request.Messages))
		reply.Attempts = append(reply.Attempts, a)
		return nil
	}
	fail.Endpoint = c.cfg.BaseURL
	if a.Unsent = way.unsent(); a.Unsent && fail.Status != llm.Failed { // for failures the cause says so
		fail.Err = fmt.Errorf("not sent, no connection came about: %w", fail.Err)
	}
	a.Status, a.Kind, a.Err = fail.Status, fail.Kind, printable.Line(fail.Err.Error())
	if !a.Unsent || a.Status != llm.Canceled {
		reply.Attempts = append(reply.Attempts, a)
	}
	return fail
}

// askWhole makes one call within the model's timeout. Even with an error the answer holds what arrived.
func (c *Client) askWhole(ctx context.Context, b *body) (answer, *llm.Error) {
	call, cancel := context.WithTimeoutCause(ctx, c.cfg.Model.Timeout, errTimeout)
	defer cancel()
	reply, resp, err := c.send(call, b)
	switch {
	case call.Err() != nil && err != nil:
		return answer{}, c.ended(ctx, call)
	case resp != nil && resp.StatusCode >= 300:
		return answer{}, c.refused(b, resp, reply)
	case err != nil:
		return answer{}, c.disconnected(err)
	}
	ans, broken := decode(reply, len(b.Tools) > 0)
	return ans, c.broken(resp.StatusCode, broken)
}

// send sends the request and returns the raw body of its reply.
func (c *Client) send(call context.Context, b *body) (reply []byte, resp *http.Response, err error) {
	resp, err = c.post(call, b, "application/json", c.cfg.MaxBody)
	if err != nil {
		return nil, resp, err
	}
	defer resp.Body.Close()
	if reply, err = io.ReadAll(resp.Body); err != nil {
		return nil, resp, fmt.Errorf("error reading response body: %w", err)
	}
	return reply, resp, nil
}

// ended returns the error of a call that the model's timeout or the caller ended.
func (c *Client) ended(ctx, call context.Context) *llm.Error {
	cause := context.Cause(call)
	if stalled, ok := errors.AsType[*stall](cause); ok {
		return &llm.Error{Status: llm.Stalled, Err: stalled}
	}
	if cause == errTimeout {
		err := fmt.Errorf("no answer within %v: %w", c.cfg.Model.Timeout, context.DeadlineExceeded)
		return &llm.Error{Status: llm.Timeout, Err: err}
	}
	err := fmt.Errorf("the caller gave up: %w", ctx.Err())
	if cause = context.Cause(ctx); cause != ctx.Err() {
		err = fmt.Errorf("%w (%v)", err, cause)
	}
	return &llm.Error{Status: llm.Canceled, Err: err}
}

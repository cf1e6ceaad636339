package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/evoalloc/evoalloc/llm"
)

// askStream makes one call with a streamed answer in the form f of b. Even with an error the answer holds what arrived.
func (c *Client) askStream(ctx context.Context, b *body, f form) (answer, *llm.Error) {
	call, cancel := context.WithTimeoutCause(ctx, c.cfg.Model.Timeout, errTimeout)
	defer cancel()
	call, end := context.WithCancelCause(call)
	defer end(nil)
	w := newWatch(c.cfg.Stream, end)
	defer w.stop()
	resp, err := c.open(call, b)
	switch {
	case call.Err() != nil && err != nil:
		return answer{}, c.ended(ctx, call)
	case resp != nil && resp.StatusCode >= 300:
		defer resp.Body.Close()
		return answer{}, c.refused(b, resp, nil)
	case err != nil:
		return answer{}, c.disconnected(err)
	}
	defer resp.Body.Close()
	c.forms.accepted(f)
	events := newEventReader(resp.Body)
	if events.isWhole() {
		return c.readWhole(ctx, call, b, events.r, w)
	}
	t := transcript{max: c.cfg.MaxBody, cap: c.cap(b), tools: len(b.Tools) > 0}
	err = t.read(events, w)
	return t.answer(), c.conclude(ctx, call, &t, err)
}

// open sends the request and returns when the headers of the reply have arrived. If the status is not a success, open
// reads the body first.
func (c *Client) open(ctx context.Context, b *body) (*http.Response, error) {
	resp, err := c.post(ctx, b, "text/event-stream", maxStream(c.cfg.MaxBody))
	if err != nil || resp.StatusCode < 300 {
		return resp, err
	}
	refusal, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err == nil {
		resp.Body = io.NopCloser(bytes.NewReader(refusal))
	}
	return resp, err
}

// read reads a stream to its end. It returns nil once the answer is complete, whatever happens to the connection
// afterwards. Otherwise it returns a *brokenReply or the connection's error, io.EOF if that just ended.
func (t *transcript) read(events *eventReader, w *watch) error {
	for {
		data, kind, err := events.next()
		switch {
		case err == nil && string(data) == "[DONE]":
			w.finish(afterDone)
			io.CopyN(io.Discard, events.r, 1<<10) // to its end, so that the connection can be reused
			return t.unless(io.EOF)
		case err != nil:
			return t.unless(err)
		case len(data) == 0:
			continue
		}
		was := t.complete()
		n, broken := t.add(data, kind)
		switch {
		case broken != nil:
			return t.unless(broken)
		case n > 0:
			w.progress(n)
		}
		if t.complete() && !was {
			w.finish(afterFinish)
		}
	}
}

// unless returns err, or nil if the answer is complete.
func (t *transcript) unless(err error) error {
	if t.complete() {
		return nil
	}
	return err
}

// conclude returns the error of a stream that ended with err, or nil if it brought an answer.
func (c *Client) conclude(ctx, call context.Context, t *transcript, err error) *llm.Error {
	broken, isBroken := errors.AsType[*brokenReply](err)
	switch {
	case err == nil:
		return c.broken(http.StatusOK, t.judge())
	case isBroken:
		return c.broken(http.StatusOK, broken)
	case call.Err() != nil:
		return c.ended(ctx, call)
	case err == io.EOF:
		return c.broken(http.StatusOK, t.judge())
	case errors.Is(err, errTooLarge):
		return c.broken(http.StatusOK,
			&brokenReply{why: fmt.Sprintf("%v allows a stream, %d bytes", err, maxStream(c.cfg.MaxBody))})
	case errors.Is(err, errLongEvent):
		return c.broken(http.StatusOK, &brokenReply{why: fmt.Sprintf("%v: more than %d bytes", err, maxEvent)})
	}
	return c.disconnected(err)
}

// isWhole reports whether the body is not a stream but one piece: a JSON object or an HTML page. Some servers do not
// stream, and some errors are not streamed.
func (e *eventReader) isWhole() bool {
	for {
		b, err := e.r.ReadByte()
		switch {
		case err != nil:
			return false
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			continue
		}
		e.r.UnreadByte()
		return b == '{' || b == '<' || b == '['
	}
}

// readWhole reads an answer that is not streamed. Its tokens are unknown before its end.
func (c *Client) readWhole(ctx, call context.Context, b *body, r io.Reader, w *watch) (answer, *llm.Error) {
	w.unknown()
	reply, err := io.ReadAll(&boundedBody{io.NopCloser(&wholeReader{r, w}), c.cfg.MaxBody})
	switch {
	case err != nil && call.Err() != nil:
		return answer{}, c.ended(ctx, call)
	case err != nil:
		return answer{}, c.disconnected(err)
	}
	ans, broken := decode(bytes.TrimSpace(reply), len(b.Tools) > 0)
	return ans, c.broken(http.StatusOK, broken)
}

// A wholeReader reports bytes instead of tokens to the watch.
type wholeReader struct {
	io.Reader
	w *watch
}

func (r *wholeReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.w.progress(1)
	}
	return n, err
}

// maxStream bounds the body of a stream, in which a token's envelope is some hundred times its size.
func maxStream(maxBody int64) int64 {
	const around = 128
	return min(maxBody, math.MaxInt64/around-1) * around
}

package llmtest

import (
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// tokens cuts s into pieces of whole characters and at least four bytes, except the last. In ASCII there are as many as
// [Tokens] counts.
func tokens(s string) (pieces []string) {
	for len(s) > 0 {
		n := min(4, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		pieces = append(pieces, s[:n])
		s = s[n:]
	}
	return pieces
}

// A streamer sends one answer a token at a time.
type streamer struct {
	*exchange
	content
	thinking, saying []string   // the tokens of the reasoning and of the text
	calling          []wireCall // the pieces of the calls
	begin            time.Time
	done             int   // tokens written but not flushed
	err              error // the first error, after which nothing is sent
}

// stream sends c as server-sent events.
func (e *exchange) stream(c content) {
	s := &streamer{exchange: e, content: c, begin: time.Now()}
	s.thinking, s.saying, s.calling = tokens(c.reasoning), tokens(c.text), pieces(c.calls)
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-cache")
	if !s.opening() {
		return
	}
	n := len(s.thinking) + len(s.saying) + len(s.calling)
	for i := 0; i < n && s.err == nil; i++ {
		if i == n/2 && s.breaks() {
			return
		}
		s.await(i)
		s.token(i, n)
	}
	if n == 0 && s.breaks() {
		return
	}
	s.closing()
	s.deliver()
	if e.end(s.err); s.v.Fault == closes && s.err == nil {
		e.close()
	}
}

// opening sends the headers and a first chunk without tokens, and reports whether to continue.
func (s *streamer) opening() bool {
	empty := ""
	m := &message{Role: "assistant", Content: &empty}
	if s.v.Fault == nullContent || s.said() == nil {
		m.Content = nil
	}
	s.chunk(m, nil, 0)
	if s.v.Fault == hangFirst {
		s.flush()
		s.hang()
		return false
	}
	return true
}

// breaks applies the fault in the middle of the stream, and reports whether that ends the stream.
func (s *streamer) breaks() bool {
	f := s.v.Fault
	switch f {
	case hangBody, cut, resetBody:
		s.flush()
	case errorInStream:
		s.event([]byte(errorBody))
	case errorInChoice:
		s.event([]byte(errorChoice))
	case errorField:
		s.line("error: " + strings.TrimSuffix(strings.TrimPrefix(errorBody, `{"error": `), "}") + "\n\n")
	case errorLine:
		s.line(errorBody + "\n")
	case malformed:
		s.event([]byte(`{"id": "chatcmpl-0", "choices": [{"delta": {"cont`))
	case wrongTyped:
		s.event([]byte(wrongTypedBody))
	case endEarly:
	default:
		return false
	}
	switch f {
	case hangBody:
		s.hang()
	case cut:
		s.abort()
	case resetBody:
		s.reset()
	default:
		s.deliver()
		s.end(s.err)
	}
	return true
}

// await waits until token i is due, counted from the beginning, so that delays do not add up.
func (s *streamer) await(i int) {
	var every float64 // seconds
	switch {
	case s.v.Fault == drip:
		every = s.s.cfg.Drip.Seconds()
	case s.s.cfg.Rate > 0:
		every = 1 / s.s.cfg.Rate
	}
	due := s.begin.Add(time.Duration(float64(i) * every * float64(time.Second)))
	if every == 0 || s.err != nil || time.Until(due) <= 0 {
		return
	}
	s.flush()
	if s.err == nil && !s.until(due) {
		s.err = errLeft
	}
}

// token sends token i of n.
func (s *streamer) token(i, n int) {
	m := &message{}
	switch {
	case s.v.Fault == nullContent:
	case i < len(s.thinking):
		m.Reasoning = s.thinking[i]
	case i < len(s.thinking)+len(s.saying):
		if m.Content = &s.saying[i-len(s.thinking)]; s.v.Fault == asParts {
			m.Content = parts(s.saying[i-len(s.thinking)])
		}
	default:
		m.Calls = s.calling[i-len(s.thinking)-len(s.saying):][:1]
	}
	s.done = s.usage.CompletionTokens * (i + 1) / n
	s.chunk(m, nil, s.done)
}

// closing sends the finish reason and the usage.
func (s *streamer) closing() {
	empty := ""
	m, finish := &message{Content: &empty}, &s.finish
	switch {
	case s.v.Fault == nullContent || s.said() == nil:
		m.Content = nil
	case s.v.Fault == declined:
		m.Refusal = declinedText
	case s.v.Fault == noFinish:
		finish = nil
	}
	s.done = s.usage.CompletionTokens
	s.chunk(m, finish, s.done)
	if o := s.req.StreamOptions; o.IncludeUsage {
		last := s.wire("chat.completion.chunk")
		s.count(&last, s.done)
		s.emit(last)
	}
	s.event([]byte("[DONE]"))
}

// chunk sends one delta, with the usage so far if the client wants it.
func (s *streamer) chunk(delta *message, finish *string, completion int) {
	c := s.wire("chat.completion.chunk", choice{Delta: delta, FinishReason: finish})
	if s.v.Fault == noChoices {
		c.Choices = []choice{}
	}
	if o := s.req.StreamOptions; o.IncludeUsage && o.ContinuousUsage {
		s.count(&c, completion)
	}
	s.emit(c)
}

// count enters the usage in c, with the completion tokens so far.
func (s *streamer) count(c *completion, completion int) {
	u := s.usage
	u.CompletionTokens = completion
	c.Usage = wireOf(u, s.v.Fault)
}

// emit sends c.
func (s *streamer) emit(c completion) {
	body := encode(c)
	if s.v.Fault == wrongUsage && c.Usage != nil {
		body = wrongUsageIn(body)
	}
	s.event(body)
}

// event writes data as one server-sent event.
func (s *streamer) event(data []byte) { s.line("data: " + string(data) + "\n\n") }

// line writes a part of the stream. A full buffer is sent.
func (s *streamer) line(text string) {
	if s.err == nil && s.ctx.Err() != nil {
		s.err = errLeft
	}
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
}

// flush sends the buffer.
func (s *streamer) flush() {
	if s.err == nil {
		s.err = s.rc.Flush()
	}
	s.deliver()
}

// deliver counts the written tokens as sent.
func (s *streamer) deliver() {
	if s.err == nil {
		s.s.meter.deliver(s.v, s.done)
	}
}

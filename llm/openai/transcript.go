package openai

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// A transcript is the contents of a stream so far.
//
// # Tokens
//
// Streamed tokens are the completion tokens of the latest usage, or the number of chunks with text,
// whichever is more: most servers send a token in each chunk, and some send usage that lags behind.
//
// # Chunks that come twice
//
// A chunk that equals the previous one, byte for byte, is a repetition if it has the finish reason, or usage that has
// grown with every other chunk with text. Then it is left out. Otherwise it may be a second equal token, so it is kept;
// if the final usage then proves that there were more chunks with text than tokens, in a stream that repeated its
// finish reason, the text cannot be trusted.
type transcript struct {
	max int64 // bytes of text and reasoning
	cap int   // limit on new tokens; 0 means none. Usage beyond it is no progress
	// tools is whether calls are read, as there were tools in the request.
	tools bool

	text, reasoning []byte
	calls           callList
	finish          string
	usage           *llm.Usage
	excess          bool // whether usage exceeded cap
	begun           bool // whether a choice arrived
	spoke           bool // whether content that is a string arrived
	chunks          int  // with text, or a piece of a call

	previous []byte // the previous chunk
	lags     bool   // whether usage did not grow with every chunk with text
	doubtful int    // consecutive equal chunks with text that were kept
	repeated bool   // whether a chunk was a repetition
}

// complete reports whether the answer is complete.
func (t *transcript) complete() bool { return t.finish != "" }

// streamed returns the completion tokens so far.
func (t *transcript) streamed() int {
	if t.usage == nil {
		return t.chunks
	}
	return max(t.chunks, t.usage.CompletionTokens)
}

// add takes in one event. It returns the event's tokens, and why the rest of the stream is unusable, or nil.
func (t *transcript) add(data, kind []byte) (tokens int, broken *brokenReply) {
	var c chunk
	if err := c.parse(data); err != nil {
		return 0, notJSON(bytes.Clone(data), err)
	}
	if c.failed() || string(kind) == "error" {
		return 0, &brokenReply{"an error in the stream", bytes.Clone(data), true}
	}
	before := t.streamed()
	usage := t.capped(parseUsage(c.Usage))
	if t.repeats(data, &c, usage) {
		return 0, nil
	}
	text, broken := t.take(&c)
	if t.count(usage, text); broken != nil {
		return 0, broken
	}
	if int64(len(t.text)+len(t.reasoning)+t.calls.size) > t.max {
		return 0, &brokenReply{why: fmt.Sprintf("%v, %d bytes of text", errTooLarge, t.max)}
	}
	return t.streamed() - before, nil
}

// capped returns usage with no more new tokens than the request allows.
func (t *transcript) capped(usage *llm.Usage) *llm.Usage {
	if usage != nil && t.cap > 0 && usage.CompletionTokens > t.cap {
		usage.CompletionTokens, t.excess = t.cap, true
	}
	return usage
}

// repeats reports whether the chunk is certainly a repetition of the previous one.
func (t *transcript) repeats(data []byte, c *chunk, usage *llm.Usage) bool {
	if !bytes.Equal(data, t.previous) {
		t.previous = append(t.previous[:0], data...)
		return false
	}
	final, text := false, false
	for _, choice := range c.Choices {
		final = final || choice.FinishReason != ""
		text = text || choice.Delta.said() != "" || t.tools && choice.Delta.Calls != ""
	}
	switch {
	case final, usage != nil && usage.CompletionTokens > 0 && !t.lags:
		t.repeated = true
		return true
	case text:
		t.doubtful++
	}
	return false
}

// said returns the text of the delta, from any of its fields.
func (d *delta) said() string {
	return cmp.Or(d.Content.text, string(d.ReasoningContent), string(d.Reasoning))
}

// take adds the text and the calls of the first choice, and reports whether there is any. broken is why the calls are
// unusable.
func (t *transcript) take(c *chunk) (text bool, broken *brokenReply) {
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 { // not requested
			continue
		}
		t.begun = true
		d := &choice.Delta
		t.spoke = t.spoke || d.Content.exists
		t.text = append(t.text, d.Content.text...)
		t.reasoning = append(t.reasoning, cmp.Or(d.ReasoningContent, d.Reasoning)...)
		t.finish = cmp.Or(string(choice.FinishReason), t.finish)
		text = text || d.said() != ""
		if before := t.calls.size; t.tools && broken == nil {
			broken = t.calls.add(d.Calls)
			text = text || t.calls.size > before
		}
	}
	return text, broken
}

// count takes in a chunk's usage. Usage that decreases is an error of the server's.
func (t *transcript) count(usage *llm.Usage, text bool) {
	grown := usage != nil && (t.usage == nil || usage.CompletionTokens > t.usage.CompletionTokens)
	if text {
		t.chunks++
		t.lags = t.lags || !grown
	}
	if grown || usage != nil && usage.CompletionTokens == t.usage.CompletionTokens {
		t.usage = usage
	}
}

// answer returns the transcript's answer. The usage of a stream that ended early may lag behind.
func (t *transcript) answer() answer {
	a := answer{
		text: validText(t.text), reasoning: validText(t.reasoning),
		finish: t.finish, usage: t.usage, excess: t.excess, streamed: t.streamed(),
	}
	a.calls, _ = t.calls.calls()
	if a.usage != nil && !t.complete() {
		u := *a.usage
		u.CompletionTokens = a.streamed
		a.usage = &u
	}
	return a
}

// validText returns b with U+FFFD where it is not UTF-8.
func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// judge returns why an ended stream holds no usable answer, or nil.
func (t *transcript) judge() *brokenReply {
	called := len(t.calls.parts) > 0
	switch {
	case !t.begun:
		return &brokenReply{why: "a stream without choices"}
	case !t.complete():
		return &brokenReply{why: "the stream ended without a finish reason"} // and no transport error showed it
	case !t.spoke && !called:
		return &brokenReply{why: fmt.Sprintf("no content, finish reason %q", t.finish)}
	case t.finish != "stop" && !called && len(bytes.TrimSpace(t.text)) == 0:
		return &brokenReply{why: fmt.Sprintf("empty content, finish reason %q", t.finish)}
	case t.repeated && t.doubtful > 0 && t.usage != nil && t.chunks > t.usage.CompletionTokens:
		return &brokenReply{why: fmt.Sprintf("chunks that came twice: %d with text for %d tokens",
			t.chunks, t.usage.CompletionTokens)}
	}
	_, broken := t.calls.calls()
	return broken
}

package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/tidwall/gjson"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// A transcript is what was read of a reply, whole or in chunks. Of a chunk gjson reads what is needed, since the SDK's
// typed one costs three times the processor time.
type transcript struct {
	tools bool // whether the request has tools

	text, reasoning, refused []byte
	model, finish            string
	calls                    []call
	unasked                  string    // a tool that was called though the request has none
	usage                    llm.Usage // zero if there is none
	begun, spoke             bool      // whether a choice, and content that is not null, arrived
	done, whole              bool      // whether the reply was read to its end, and came in one piece
	size                     int       // bytes of text, reasoning and calls
	chunks                   int       // with text, or a piece of a call
}

const maxCalls = 128 // of tools in one answer

// A call is a call of a tool, as far as it was read.
type call struct {
	index     int64 // as the server counts
	id, name  string
	arguments []byte
}

// broken returns the error of a reply with a success status that cannot be used.
func broken(format string, args ...any) error {
	return unusable(llm.KindBrokenReply, "a broken reply: "+format, args...)
}

func unusable(kind, format string, args ...any) error {
	return &llm.Error{Status: llm.Failed, Kind: kind, Code: http.StatusOK, Err: fmt.Errorf(format, args...)}
}

// addEvent takes in one event of a stream, and returns its tokens: those that its usage adds, or one if it has text.
func (t *transcript) addEvent(event ssestream.Event) (tokens int, err error) {
	data := bytes.TrimSpace(event.Data)
	if len(data) == 0 || string(data) == "[DONE]" {
		t.done = len(data) > 0
		return 0, nil
	}
	before, size := t.seen(), t.size
	err = t.add("delta", event.Type, data)
	if t.size > size {
		t.chunks++
	}
	if t.size > maxText {
		err = broken("the text is longer than %d bytes", maxText)
	}
	return t.seen() - before, err
}

// add takes in a completion or a chunk, with its text in that field of the choice.
func (t *transcript) add(field, kind string, data []byte) (err error) {
	if !json.Valid(data) { // which bounds the nesting too
		return broken("no JSON: %s", cmp.Or(printable.Excerpt(string(data), 1<<14), "nothing"))
	}
	root := gjson.ParseBytes(data)
	if r := failure(root, kind); r != nil {
		return r
	}
	root.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "choices":
			if choice := v.Get("0"); choice.Exists() && choice.Get("index").Int() == 0 { // others were not requested
				t.begun = true
				t.finish = cmp.Or(choice.Get("finish_reason").Str, t.finish)
				t.say(choice.Get(field))
			}
		case "usage":
			t.count(v)
		case "model":
			t.model = cmp.Or(t.model, v.Str)
		}
		return true
	})
	return nil
}

// say takes in a message or a delta.
func (t *transcript) say(m gjson.Result) {
	reasoned := false
	m.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "content":
			t.spoke = t.spoke || v.Type == gjson.String || v.IsArray()
			t.parts(v, &t.text)
		case "reasoning_content", "reasoning":
			if !reasoned { // some send it under both names
				t.parts(v, &t.reasoning)
				reasoned = v.Str != ""
			}
		case "refusal":
			t.parts(v, &t.refused)
		case "tool_calls":
			if t.tools {
				v.ForEach(t.addCall)
			} else {
				t.unasked = cmp.Or(t.unasked, v.Get("0.function.name").Str)
			}
		}
		return true
	})
}

// parts appends a text, or a list of parts that are text or thinking.
func (t *transcript) parts(v gjson.Result, to *[]byte) {
	*to = append(*to, v.Str...)
	t.size += len(v.Str)
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, part gjson.Result) bool {
		into, thought := to, part.Get("thinking")
		if thought.Exists() || part.Get("type").Str == "reasoning" {
			into = &t.reasoning
		}
		t.parts(thought, into)
		t.parts(part.Get("text"), into)
		return true
	})
}

// addCall takes in a call of a tool, or a piece of one. Ollama counts all calls as number 0, and other servers send a
// new ID with each piece: so a new ID with a name begins a call only if the arguments before it are complete.
func (t *transcript) addCall(_, d gjson.Result) bool {
	id, name, text := d.Get("id").Str, d.Get("function.name").Str, d.Get("function.arguments").String()
	index := d.Get("index")
	i := len(t.calls) - 1
	for index.Exists() && i >= 0 && t.calls[i].index != index.Int() {
		i--
	}
	if i < 0 || !index.Exists() && id+name != "" ||
		id != "" && id != t.calls[i].id && name != "" && json.Valid(t.calls[i].arguments) {
		t.calls = append(t.calls, call{index: index.Int()})
		i = len(t.calls) - 1
	}
	c := &t.calls[i]
	c.id, c.name, c.arguments = cmp.Or(c.id, id), cmp.Or(c.name, name), append(c.arguments, text...)
	t.size += len(id) + len(name) + len(text)
	return len(t.calls) <= maxCalls
}

// count takes in a usage object, unless it is impossible or goes back.
func (t *transcript) count(usage gjson.Result) {
	number := func(name string) int { // -1 if it is none
		if v := usage.Get(name); v.Type == gjson.Number && v.Num >= 0 && v.Num <= 1e9 && math.Trunc(v.Num) == v.Num {
			return int(v.Num)
		}
		return -1
	}
	u := llm.Usage{PromptTokens: number("prompt_tokens"), CompletionTokens: number("completion_tokens")}
	if min(u.PromptTokens, u.CompletionTokens) < 0 || u == (llm.Usage{}) || u.CompletionTokens < t.usage.CompletionTokens {
		return
	}
	u.CachedTokens = min(max(0, number("prompt_tokens_details.cached_tokens")), u.PromptTokens)
	t.usage = u
}

// seen returns the completion tokens that were seen: some servers send usage that lags behind.
func (t *transcript) seen() int { return max(t.chunks, t.usage.CompletionTokens) }

// bounded returns the usage, limited to what is possible for the request, and whether the server claims more. That of a
// stream that ended early counts what was seen.
func (t *transcript) bounded(prompt, limit int) (u *llm.Usage, capped bool) {
	if t.usage == (llm.Usage{}) {
		return nil, false
	}
	claimed := t.usage
	if !t.done && t.finish == "" {
		claimed.CompletionTokens = t.seen()
	}
	cut := llm.Usage{PromptTokens: min(claimed.PromptTokens, prompt), CachedTokens: min(claimed.CachedTokens, prompt),
		CompletionTokens: min(claimed.CompletionTokens, max(limit, t.chunks))}
	return &cut, cut != claimed
}

// answer returns the text and the calls. Where there is neither, and one program alone stands in the reasoning, that is
// the text. A call without a usable ID gets one that is unique in a conversation of so many messages.
func (t *transcript) answer(messages int) (text string, calls []llm.ToolCall) {
	seen := map[string]bool{"": true}
	for i, c := range t.calls {
		if len(c.id) > 128 || printable.Line(c.id) != c.id || seen[c.id] {
			c.id = fmt.Sprintf("call_%d_%d", messages, i)
		}
		seen[c.id] = true
		calls = append(calls, llm.ToolCall{ID: c.id, Name: printable.Excerpt(c.name, 128),
			Arguments: validText(bytes.TrimSpace(c.arguments))})
	}
	if text = validText(t.text); strings.TrimSpace(text) == "" && len(calls) == 0 &&
		len(slices.Collect(fence.Blocks(string(t.reasoning)))) == 1 {
		text = validText(t.reasoning)
	}
	return text, calls
}

// validText returns b with U+FFFD where it is not UTF-8.
func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// judge returns why a reply that was read to its end holds no answer, or nil.
func (t *transcript) judge() error {
	text, calls := t.answer(0)
	switch {
	case !t.begun:
		return broken("no choices")
	case len(calls) > maxCalls:
		return broken("more than %d tool calls", maxCalls)
	case slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.Name == "" }):
		return broken("a tool call has no name")
	case t.finish == "" && !t.done: // and no transport error showed it
		return broken("the stream ended without a finish reason or [DONE]")
	case strings.HasPrefix(t.finish, "content_filter"):
		return unusable(llm.KindNoAnswer, "the endpoint's content filter removed the answer")
	case len(calls) > 0 || strings.TrimSpace(text) != "":
		return nil
	case len(t.refused) > 0:
		return unusable(llm.KindNoAnswer, "the model declined to answer: %s", printable.Excerpt(string(t.refused), 1<<14))
	case t.unasked != "":
		return unusable(llm.KindNoAnswer, "the model called a tool instead of answering: %q", t.unasked)
	case t.finish == "length":
		return unusable(llm.KindNoAnswer, "no text before the cap on tokens: raise the model's MaxTokens")
	case t.finish != "stop" && t.finish != "" || !t.spoke && len(t.reasoning) == 0:
		return broken("no content, finish reason %q", printable.Excerpt(t.finish, 64))
	}
	return nil // an empty answer that the model ended
}

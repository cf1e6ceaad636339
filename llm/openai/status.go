package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// refused returns the error of a reply whose status is not a success. body is empty if resp still has it.
func (c *Client) refused(b *body, resp *http.Response, body []byte) *llm.Error {
	if len(body) == 0 && resp.Body != nil {
		body, _ = io.ReadAll(resp.Body) // bounded, and already in memory
	}
	text, code := parseError(c.redact(body), c.hide)
	if to := resp.Header.Get("Location"); to != "" {
		text = "redirected to " + to
	}
	e := c.classed(resp.StatusCode, code, text)
	if len(b.Tools) > 0 && slices.Contains(ofTools, resp.StatusCode) && noTools.MatchString(text) {
		e.Kind, e.Err = llm.KindBadRequest, fmt.Errorf("%w%s", e.Err, toolsHint)
	}
	e.RetryAfter = retryAfter(resp.Header, time.Now())
	return e
}

// broken returns the error of a broken reply.
func (c *Client) broken(status int, b *brokenReply) *llm.Error {
	if b == nil {
		return nil
	}
	body, why := c.redact(b.body), "a broken reply: "+b.why
	quote := excerpt(body, c.hide)
	if b.failure {
		text, code := parseError(body, c.hide)
		if n, _ := strconv.Atoi(code); n >= 400 && n < 600 {
			e := c.classed(n, code, text)
			e.Code = status
			return e
		}
		quote = text
	}
	if quote != "" {
		why += ": " + quote
	}
	return &llm.Error{Status: llm.Failed, Kind: llm.KindBrokenReply, Code: status, Err: errors.New(c.clean(why))}
}

// ofTools are the statuses with which endpoints refuse tools. Others may pass, whatever they say.
var ofTools = []int{400, 404, 405, 422, 500, 501}

// noTools matches the words by which an endpoint refuses tools: those of Ollama, vLLM, llama.cpp, OpenRouter and of
// servers that do not know the field.
var noTools = regexp.MustCompile(`(?i)support\w* (for )?(tool|function)|` +
	`\btool[^.]{0,24} not supported|tool-call-parser|` +
	`--jinja|(unknown|unrecognized|unsupported|unexpected|extra|additional)\b.{0,40}\btools\b`)

// toolsHint is what the user should check if an endpoint refuses tools.
const toolsHint = " (the request has tools: use a model and a server with tool calling, which vLLM has with" +
	" --enable-auto-tool-choice and --tool-call-parser and llama.cpp with --jinja, or ask without tools)"

func (c *Client) classed(status int, code, text string) *llm.Error {
	kind := kindOf(status, code, text)
	msg := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	if text = c.clean(text); text != "" {
		msg += ": " + text
	}
	return &llm.Error{Status: llm.Failed, Kind: kind, Code: status, Err: errors.New(msg + c.hint(kind))}
}

// hint returns what the user should check.
func (c *Client) hint(kind string) string {
	switch kind {
	case llm.KindAuth:
		if c.key() == "" {
			return fmt.Sprintf(" (no key was sent: set %s)", EnvKey)
		}
		return fmt.Sprintf(" (check the key in %s)", c.keyFrom)
	case llm.KindNotFound:
		return fmt.Sprintf(" (check the URL in %s, which usually ends in /v1, and the model name %q)",
			c.baseFrom, c.cfg.Model.Name)
	case llm.KindRefused:
		return fmt.Sprintf(" (check that the server is running and the URL in %s)", c.baseFrom)
	}
	return ""
}

// kindOf classifies an HTTP error by its status, and by its code and text where servers use one status for several
// things.
func kindOf(status int, code, text string) string {
	text = strings.ToLower(text)
	switch {
	case status == 429 && (code == "insufficient_quota" || strings.Contains(text, "exceeded your current quota")):
		return llm.KindAuth // waiting does not restore a quota
	case status == 429:
		return llm.KindRateLimit
	case status == 401, status == 402, status == 403:
		return llm.KindAuth
	case status < 400, status == 404, status == 405, code == "model_not_found":
		return llm.KindNotFound
	case status == 413, tooLong(code, text):
		return llm.KindContextLength
	case status == 408, status == 409, status == 425, status >= 500:
		return llm.KindServer
	}
	return llm.KindBadRequest
}

// tooLong recognises a prompt that does not fit by the codes and words of servers: OpenAI and Groq, llama.cpp, vLLM,
// SGLang, Text Generation Inference, Anthropic, Gemini.
func tooLong(code, text string) bool {
	switch code {
	case "context_length_exceeded", "exceed_context_size_error", "string_above_max_length":
		return true
	}
	for _, words := range []string{
		"maximum context length", "maximum model length", "max_model_len",
		"context size", "context length", "context window",
		"`inputs` tokens + `max_new_tokens`", "prompt is too long", "input is too long",
		"exceeds the maximum number of tokens",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// parseError finds the message and the code in the servers' forms of errors:
//
//	{"error": {"message": m, "code": c, "type": c}}   {"error": m}
//	{"message": m, "code": c}   {"detail": m or [{"msg": m}]}   text or HTML
//
// hide strikes secrets out of an excerpt, before it is cut.
func parseError(body []byte, hide func(string) string) (text, code string) {
	var e struct {
		Error           json.RawMessage `json:"error"`
		Detail          json.RawMessage `json:"detail"`
		Message         json.RawMessage `json:"message"`
		Code, Type, Msg json.RawMessage
	}
	if json.Unmarshal(body, &e) != nil {
		return excerpt(body, hide), ""
	}
	if len(e.Error) > 0 && e.Error[0] == '{' {
		return parseError(e.Error, hide)
	}
	text = firstText(e.Error, e.Message, e.Detail)
	if text == "" {
		text = excerpt(body, hide)
	}
	code = firstText(e.Code, e.Type)
	if n := strings.TrimSpace(string(e.Code)); code == "" || isNumber(n) {
		code = n
	}
	return text, code
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// maxRetryAfter keeps a header from overflowing a Duration.
const maxRetryAfter = 30 * 24 * time.Hour

// retryAfter returns the wait that the server asks for: Retry-After in seconds or as a date, relative to the server's
// clock if the reply has it, or OpenAI's Retry-After-Ms. It is 0 if there is none or it is unreadable.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return bounded(s * float64(time.Second))
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return bounded(float64(at.Sub(now)))
}

func bounded(ns float64) time.Duration {
	if math.IsNaN(ns) || ns < 0 {
		return 0
	}
	return time.Duration(min(ns, float64(maxRetryAfter)))
}

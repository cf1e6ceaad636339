package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/tidwall/gjson"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// apiError has another name than its method Error, so that it can be embedded.
type apiError = sdk.Error

// A refusal is an error that the endpoint sent, under whatever status and in whatever form.
type refusal struct {
	*apiError
	sent   int           // the status that it came with
	fields []string      // of the request, which it names apart from its text
	wait   time.Duration // that it asks for; 0 if it does not
	daily  bool          // whether a limit of the day is reached
}

func (r *refusal) Unwrap() error { return r.apiError }

// failure returns the error in a completion, a chunk or a choice, or nil. kind is the event's type.
func failure(root gjson.Result, kind string) *refusal {
	if root.IsArray() {
		root = root.Get("0")
	}
	set := func(path string) bool { return root.Get(path).Type != gjson.Null }
	switch {
	case kind == "error", set("error"), root.Get("object").Str == "error":
	case set("choices.0.error"):
		root = root.Get("choices.0")
	case !set("choices") && (set("detail") || set("message") || set("errors")):
	default:
		return nil
	}
	return readRefusal(http.StatusOK, &http.Response{}, []byte(root.Raw))
}

// lateError returns the error that the last lines of a stream hold as bare JSON or as llama.cpp's field, or nil.
func lateError(tail []byte) *refusal {
	for line := range bytes.Lines(tail) {
		text, isField := bytes.CutPrefix(bytes.TrimSpace(line), []byte("error:"))
		if isField || json.Valid(text) && failure(gjson.ParseBytes(text), "") != nil {
			return readRefusal(http.StatusOK, &http.Response{}, bytes.TrimSpace(text))
		}
	}
	return nil
}

// readRefusal reads the error in a body, in the forms of servers:
//
//	{"error": {"message": m, "code": c, "type": c, "param": p}}   {"error": m}   [{"error": ...}]
//	{"message": m, "code": c}   {"message": {"detail": ...}}   {"detail": m or [{"msg": m, "loc": ["body", p]}]}   HTML
func readRefusal(status int, resp *http.Response, body []byte) *refusal {
	r := &refusal{apiError: &apiError{StatusCode: status, Response: resp}, sent: status}
	root := gjson.Result{}
	if json.Valid(body) {
		root = gjson.ParseBytes(body)
		r.read(root, 8)
	}
	r.Message = cmp.Or(r.Message, printable.Excerpt(string(body), 1<<14))
	switch n, _ := strconv.Atoi(r.Code); {
	case status < 400 && n >= 400 && n < 600:
		r.StatusCode = n
	case status < 300 && limited.MatchString(r.Code+" "+r.Type):
		r.StatusCode = http.StatusTooManyRequests
	}
	if root.IsArray() {
		root = root.Get("0")
	}
	quotas := root.Get("error.details.#.violations").String() // Google's
	r.wait = wait(resp.Header, root, r.Message, time.Now())
	if r.daily = daily.MatchString(quotas); r.daily && r.wait < time.Hour { // which is not the time of the reset
		r.wait = 0
	}
	r.daily = r.daily || daily.MatchString(r.Code+" "+r.Type+" "+r.Message) && !minutely.MatchString(r.Message)
	return r
}

// read takes in an error object, or the list or the object that holds it, down to so many levels.
func (r *refusal) read(v gjson.Result, levels int) {
	switch {
	case levels == 0, v.Type == gjson.Null:
	case v.IsArray():
		v.ForEach(func(_, one gjson.Result) bool {
			r.read(one, levels-1)
			return len(r.Message) < 1<<10
		})
	case v.IsObject():
		for _, name := range []string{"error", "errors", "message", "msg", "detail", "metadata.raw"} {
			r.read(v.Get(name), levels-1)
		}
		r.Param = cmp.Or(v.Get("param").Str, strings.Trim(v.Get("loc").Raw, `[" ]`))
		if r.Param != "" { // FastAPI's ["body", "seed"]
			path := strings.NewReplacer(`"`, "", " ", "", ",", ".", "messages[0].role", "system")
			r.fields = append(r.fields, path.Replace(r.Param))
		}
		r.Type = cmp.Or(r.Type, v.Get("type").Str)
		r.Code = cmp.Or(r.Code, v.Get("code").String(), r.Type)
	case json.Valid([]byte(v.Str)) && gjson.Parse(v.Str).IsObject(): // OpenRouter quotes its providers
		r.read(gjson.Parse(v.Str), levels-1)
	case !strings.Contains(r.Message, v.String()):
		r.Message = strings.TrimPrefix(r.Message+"; "+v.String(), "; ")
	}
}

// hints are what the user should check, by the kind of a failure.
var hints = map[string]string{
	llm.KindAuth:     " (check the key in Config.APIKey)",
	llm.KindNotFound: " (check Config.BaseURL, which usually ends in /v1, and the model's name)",
	llm.KindRefused:  " (check that the server is running and the URL in Config.BaseURL)",
}

// classify returns what an attempt ended with, in words fit for a message.
func (c *Client) classify(err error) *llm.Error {
	e, classified := errors.AsType[*llm.Error](err)
	r, refused := errors.AsType[*refusal](err)
	switch {
	case refused:
		e = &llm.Error{Status: llm.Failed, Kind: kindOf(r), Code: r.sent, RetryAfter: r.wait, Err: r}
		text, hint := strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode))), hints[e.Kind]
		switch {
		case r.StatusCode < 300:
			text, hint = "an error under a success status", ""
		case r.daily && spent(r) && r.wait == 0:
			hint = " (a limit of the day is reached)"
		case spent(r) && r.wait > 0:
			hint = fmt.Sprintf(" (used up until %s, for %v)", time.Now().Add(r.wait).Format("2006-01-02 15:04 MST"),
				r.wait.Round(time.Minute))
		case spent(r):
			hint = " (a quota or credit is used up, and waiting for a moment does not help)"
		}
		e.Err = worded{r, strings.TrimSuffix(text+": "+c.clean(r.Message), ": ") + hint}
	case classified:
		e.Err = worded{e.Err, c.clean(e.Err.Error())}
	default:
		e = c.disconnected(err)
	}
	e.Endpoint = c.cfg.BaseURL
	return e
}

var (
	// tooLong matches OpenAI's, llama.cpp's, vLLM's, SGLang's, TGI's, Anthropic's and Gemini's words for a long prompt.
	tooLong = regexp.MustCompile("(?i)context_length_exceeded|exceed_context_size_error|string_above_max_length|" +
		"maximum (context|model) length|max_model_len|context (size|length|window)|`inputs` tokens \\+ |" +
		"(prompt|input) is too long|exceeds the maximum number of tokens")
	filtered = regexp.MustCompile(`(?i)content_filter|content management policy|content_policy|responsible_?ai`)
	limited  = regexp.MustCompile(`(?i)rate_?limit|quota|exhausted|too_?many`) // in a code
	quota    = regexp.MustCompile(`(?i)current quota|insufficient (credit|balance|funds)`)
	daily    = regexp.MustCompile(`(?i)per[-_ ]?day|\bdaily|\b[TR]PD\b|/day\b`)
	minutely = regexp.MustCompile(`(?i)per[-_ ]?min|\b[TR]PM\b`)
	tryIn    = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) ([0-9hms.]*[0-9hms])`)
)

// kindOf classifies an error by its status, and by its code and text where servers use one status for several things.
func kindOf(r *refusal) string {
	switch status, text := r.StatusCode, r.Code+" "+r.Type+" "+r.Message; {
	case spent(r):
		return llm.KindQuota
	case status == 401, status == 402, status == 403:
		return llm.KindAuth
	case status == 429:
		return llm.KindRateLimit
	case status == 413, tooLong.MatchString(text):
		return llm.KindContextLength
	case filtered.MatchString(text):
		return llm.KindNoAnswer
	case status >= 300 && status < 400, status == 404, status == 405, r.Code == "model_not_found":
		return llm.KindNotFound
	case status == 408, status == 409, status == 425, status >= 500, status < 300:
		return llm.KindServer
	}
	return llm.KindBadRequest
}

// spent reports whether r says that a credit or a limit of the day is used up, so that asking again soon is useless.
func spent(r *refusal) bool {
	words := r.Code == "insufficient_quota" || r.daily || quota.MatchString(r.Message) && r.wait == 0
	return r.StatusCode == 402 && (words || r.wait > 0) || r.StatusCode == 429 && (words || r.wait > time.Hour)
}

// wait returns how long the server asks to wait, at most 30 days, in a header, the body or words; 0 if it does not say.
func wait(h http.Header, body gjson.Result, text string, now time.Time) time.Duration {
	const most = 30 * 24 * time.Hour
	in := append(tryIn.FindStringSubmatch(text), "", "")[1]
	for _, asked := range []string{h.Get("Retry-After-Ms") + "ms", h.Get("Retry-After"), in,
		body.Get("error.details.#(retryDelay).retryDelay").Str, h.Get("X-RateLimit-Reset"),
		body.Get("error.metadata.headers.X-RateLimit-Reset").String()} {
		d, err := time.ParseDuration(asked)
		if at, bad := http.ParseTime(asked); bad == nil {
			d, err = at.Sub(now), nil
		}
		if n, bad := strconv.ParseFloat(asked, 64); bad == nil {
			if n > 1e11 { // a time, in milliseconds
				n /= 1e3
			}
			if n > 1e9 { // in seconds
				n -= float64(now.Unix())
			}
			d, err = time.Duration(max(0, min(n, most.Seconds()))*float64(time.Second)), nil
		}
		if err == nil {
			return max(0, min(d, most))
		}
	}
	return 0
}

// clean returns server text fit for a message: one line, no control characters, no key.
func (c *Client) clean(s string) string {
	s = printable.Line(s)
	if key := c.key(); len(key) >= 4 { // a shorter one would only garble the text
		s = strings.ReplaceAll(s, key, "[key]")
	}
	return printable.Excerpt(s, 480)
}

// A worded error is another one with a text of its own.
type worded struct {
	error
	text string
}

func (w worded) Error() string { return w.text }
func (w worded) Unwrap() error { return w.error }

// disconnected classifies an error of the transport, without the local port, which differs in equal runs.
func (c *Client) disconnected(err error) *llm.Error {
	kind, what, cause := llm.KindConnection, "the connection broke", err
	op, isOp := errors.AsType[*net.OpError](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	if u, ok := errors.AsType[*url.Error](err); ok {
		cause = u.Err
	}
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		kind, what = llm.KindOther, "too many connections for this process (raise ulimit -n)"
	case isDNS && !dns.IsNotFound:
		what = "the host's name cannot be looked up"
	case isDNS:
		kind, what = llm.KindRefused, "no such host"
	case isOp && (op.Op == "dial" || op.Op == "proxyconnect"):
		kind, what = llm.KindRefused, "nothing answers"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		kind, what = llm.KindRefused, "no secure connection"
	case isOp:
		cause = op.Err
	}
	return &llm.Error{Status: llm.Failed, Kind: kind,
		Err: fmt.Errorf("%s: %w%s", what, worded{cause, c.clean(cause.Error())}, hints[kind])}
}

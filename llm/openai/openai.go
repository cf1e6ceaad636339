// Package openai is an [llm.LLM] for endpoints with OpenAI's chat-completions protocol: vLLM, SGLang, llama.cpp,
// Ollama, a hosted service or a proxy for several of them.
//
// A [Client] makes one attempt for each Generate (see Streaming for the exception), accounts for it
// however it ends, and leaves limits and retries to the combinators of package llm. The usual stack is
//
//	client, err := openai.New(openai.Config{Model: spec}) // LLM_API_BASE, LLM_API_KEY
//	...
//	model := llm.Retry(llm.Limit(client, 16), llm.RetryConfig{})
//
// where a request that waits for its retry holds none of the sixteen slots.
//
// # Streaming
//
// Answers arrive as they are written, so that a stall is noticed within seconds and not at the timeout: see [Stream].
// Streamed tokens are known and charged even if the call times out or is cut. Usage is requested during the stream
// (stream_options with include_usage and vLLM's continuous_usage_stats).
//
// If an endpoint refuses these options with status 400 or 422, the request is repeated with fewer of them; if it
// refuses to stream (400, 422 or 501), in one piece. Each refusal is an attempt of its own in the reply, announced to
// the context's [llm.Trace], and is remembered for the client's later requests. An answer in one piece to a request for
// a stream is understood too. Config.Whole turns streaming off.
//
// docs/reference.md lists the ends of attempts, and the usage that is recorded.
package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/evoalloc/evoalloc/llm"
)

// The environment variables that a [Config] falls back on.
const (
	EnvBase = "LLM_API_BASE" // base URL, such as http://127.0.0.1:8000/v1
	EnvKey  = "LLM_API_KEY"  // sent as a bearer token
)

// defaultMaxBody bounds the body of a reply, in bytes: some hundred times the longest answer of a model with a window
// of 100,000 tokens.
const defaultMaxBody = 32 << 20

// A Config configures a [Client]. It prints without the key.
type Config struct {
	// BaseURL is the part before /chat/completions, usually ending in /v1. "" means the environment's LLM_API_BASE,
	// without which New fails.
	BaseURL string
	// APIKey is sent as a bearer token, without white space around it. "" means the environment's LLM_API_KEY, or no token
	// if that is empty too.
	APIKey string `json:"-"`
	// Model is the model with its sampling. It needs a Name or a Key.
	Model llm.Model
	// HTTPClient sends the requests. nil means a client of its own, which keeps idle connections for four seconds, as many
	// as were ever in use at once, and honours the usual proxy variables.
	HTTPClient *http.Client `json:"-"`
	// Stream defines when a streamed answer has stalled. The zero value means the default limits.
	Stream Stream
	// Whole asks for answers in one piece, which cost less processor time, but a call that hangs ends only at
	// Model.Timeout. false means streams.
	Whole bool
	// MaxBody bounds the body of a reply, in bytes; a longer one is a broken reply. For a stream it bounds the text, and
	// 128 times as much bounds the whole body. 0 means 32 MiB.
	MaxBody int64
	// MaxCompletionTokens sends the cap as max_completion_tokens, which some newer endpoints want, instead of max_tokens,
	// which all others understand.
	MaxCompletionTokens bool
	// Extra holds further fields of the request's body, as encoding/json marshals them: for example
	// {"chat_template_kwargs": {"enable_thinking": false}}. nil means none. model, messages, stream and n are not allowed.
	// stream_options in it replace the client's own.
	Extra map[string]any
}

// A Client asks one endpoint for completions of one model. It is safe for concurrent use.
type Client struct {
	cfg      Config                // with defaults, the final base, and no key
	key      func() string         // a closure, so that printing a Client never shows it
	hidden   func() *regexp.Regexp // matches the key in text; nil without a key
	baseFrom string                // source of the base, for messages
	keyFrom  string
	http     *http.Client // the caller's or own, which follows no redirect unless the caller's says how
	forms    *forms
	own      *http.Client // nil if the caller brought one

	extraBytes int // bytes of Config.Extra in a request
}

var _ llm.LLM = (*Client)(nil)

// New returns a client. It fails if a field of cfg is wrong, naming it. It sends nothing: the first Generate shows
// whether the endpoint is there.
func New(cfg Config) (*Client, error) {
	c := &Client{baseFrom: "Config.BaseURL", keyFrom: "Config.APIKey"}
	if cfg.BaseURL == "" {
		cfg.BaseURL, c.baseFrom = os.Getenv(EnvBase), EnvBase
	}
	if cfg.APIKey == "" {
		cfg.APIKey, c.keyFrom = os.Getenv(EnvKey), EnvKey
	}
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	cfg.Model = cfg.Model.WithDefaults()
	cfg.MaxBody = cmp.Or(cfg.MaxBody, defaultMaxBody)
	cfg.Stream = cfg.Stream.withDefaults()
	base, err := parseBase(cfg.BaseURL, c.baseFrom)
	if err != nil {
		return nil, err
	}
	cfg.BaseURL = base
	if err := cfg.validate(c.keyFrom); err != nil {
		return nil, err
	}
	if cfg.HTTPClient == nil {
		c.own = &http.Client{Transport: newTransport()}
		cfg.HTTPClient = c.own
	}
	key := cfg.APIKey
	cfg.APIKey = ""
	c.cfg, c.key = cfg, func() string { return key }
	c.hidden = sync.OnceValue(func() *regexp.Regexp { return hidingOf(key) })
	if len(cfg.Extra) > 0 {
		extra, err := marshal(cfg.Extra)
		if err != nil {
			return nil, err // impossible after validation
		}
		c.extraBytes = len(extra)
	}
	direct := *cfg.HTTPClient
	direct.CheckRedirect = within(direct.CheckRedirect)
	c.http, c.forms = &direct, newForms(cfg)
	return c, nil
}

// parseBase checks raw and returns it as the base of requests: without a final slash, and without the path that the
// client adds.
func parseBase(raw, from string) (string, error) {
	if strings.TrimSpace(raw) == "" {
		return "", fmt.Errorf("openai: no endpoint: set %s (such as http://127.0.0.1:8000/v1) or Config.BaseURL", EnvBase)
	}
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("openai: %s %q %s: need a URL such as http://127.0.0.1:8000/v1", from, withoutUser(raw), why)
	}
	if strings.ContainsFunc(raw, unicode.IsSpace) {
		return bad("has white space in it")
	}
	u, err := url.Parse(raw) // the error is not shown, since it may repeat a password
	if err != nil {
		return bad("is malformed")
	}
	port, err := strconv.Atoi(cmp.Or(u.Port(), "80"))
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return bad("does not start with http:// or https://")
	case u.Hostname() == "":
		return bad("names no host")
	case err != nil || port < 1 || port > 65535:
		return bad("has a port that does not exist")
	case u.User != nil:
		return bad("holds a user name, which belongs in " + EnvKey)
	case strings.ContainsAny(raw, "?#"):
		return bad("has a query or a fragment, which would be lost")
	}
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(raw, "/"), "/chat/completions"), "/"), nil
}

// withoutUser hides the text between the scheme and an @, which may be a password.
func withoutUser(raw string) string {
	head, rest, ok := strings.Cut(raw, "//")
	if !ok {
		head, rest = "", raw
	} else {
		head += "//"
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "..." + rest[i:]
	}
	return head + rest
}

func (c Config) validate(keyFrom string) error {
	m := c.Model
	switch {
	case m.Name == "":
		return fmt.Errorf("openai: Config.Model has neither a Name nor a Key")
	case !(m.Temperature >= 0) || math.IsInf(m.Temperature, 0):
		return fmt.Errorf("openai: temperature %v of model %s: need a finite number of at least 0", m.Temperature, m.Key)
	case !(m.TopP > 0 && m.TopP <= 1):
		return fmt.Errorf("openai: top-p %v of model %s: need a number above 0 and at most 1", m.TopP, m.Key)
	case m.MaxTokens < 1:
		return fmt.Errorf("openai: max tokens %d of model %s: need at least 1", m.MaxTokens, m.Key)
	case m.Timeout <= 0:
		return fmt.Errorf("openai: timeout %v of model %s: need a positive duration", m.Timeout, m.Key)
	case c.MaxBody < 0:
		return fmt.Errorf("openai: Config.MaxBody is %d: need a positive number of bytes", c.MaxBody)
	case strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("openai: %s holds white space or a control character: it cannot be a key", keyFrom)
	}
	if err := c.Stream.validate(); err != nil {
		return err
	}
	return validateExtra(c.Extra)
}

func validateExtra(extra map[string]any) error {
	for _, name := range []string{"model", "messages", "stream", "n"} {
		if _, ok := extra[name]; ok {
			return fmt.Errorf("openai: Config.Extra holds %q, which the client sets itself", name)
		}
	}
	if _, err := json.Marshal(extra); err != nil {
		return fmt.Errorf("openai: Config.Extra cannot be sent: %w", err)
	}
	return nil
}

// Close closes the idle connections, unless Config.HTTPClient was set. Requests in flight go on, and the client can be
// used again.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// String returns the endpoint, the model, and whether there is a key.
func (c *Client) String() string { return describe(c.cfg.BaseURL, c.cfg, c.key() != "") }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// String returns the endpoint, the model, and whether there is a key.
func (c Config) String() string {
	return describe(cmp.Or(withoutUser(c.BaseURL), "$"+EnvBase), c, c.APIKey != "")
}

// GoString is String: the key stays out of %#v too.
func (c Config) GoString() string { return c.String() }

func describe(base string, c Config, key bool) string {
	with := "no key"
	if key {
		with = "with a key"
	}
	if c.Whole {
		with += ", in one piece"
	} else {
		with += ", " + c.Stream.String()
	}
	return fmt.Sprintf("openai(%s, %v, %s)", base, c.Model, with)
}

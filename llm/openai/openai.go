// Package openai is an [llm.LLM] for endpoints with OpenAI's chat-completions protocol, on OpenAI's own Go client. The
// usual stack is
//
//	client, err := openai.New(openai.Config{Model: spec}) // LLM_API_BASE, LLM_API_KEY
//	...
//	model := llm.Retry(llm.Limit(client, 16), llm.RetryConfig{})
//
// Temperature, top_p and seed are the endpoint's own unless they were given. Answers are streamed, so that a stall is
// noticed within seconds (see [Stream]) and the tokens of a call that was cut are known.
//
// If an endpoint refuses a request by naming a field, the client sends it again without the field, with the cap under
// its other name, or with the system's text before the user's. It remembers that and says it once to Config.Notice.
package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/evoalloc/evoalloc/llm"
)

// The environment variables that a [Config] falls back on.
const (
	EnvBase = "LLM_API_BASE" // base URL, such as http://127.0.0.1:8000/v1
	EnvKey  = "LLM_API_KEY"  // sent as a bearer token
)

// A Config configures a [Client]. It prints without the key.
type Config struct {
	// BaseURL is the part before /chat/completions, usually ending in /v1. Its query, such as Azure's api-version, is sent
	// with each request. "" means the environment's LLM_API_BASE, without which New fails.
	BaseURL string
	// APIKey is sent as a bearer token, or as api-key if the query of BaseURL has Azure's api-version. "" means the
	// environment's LLM_API_KEY, or no key if that is empty too.
	APIKey string `json:"-"`
	// Model is the model with its sampling. It needs a Name or a Key.
	Model llm.Model
	// Options are applied to each request after the client's own: headers, another http.Client, middleware, other ways to
	// authenticate, those of the SDK's package azure. nil means none.
	Options []option.RequestOption `json:"-"`
	// Stream defines when a streamed answer has stalled. The zero value means the default limits.
	Stream Stream
	// Whole asks for answers in one piece: a call that hangs ends only at Model.Timeout then. false means streams.
	Whole bool
	// Seed sends Request.Seed. false means that the endpoint draws its own.
	Seed bool
	// Omit names fields that are never sent, such as "temperature" or "stream_options". Without "max_tokens" the cap is
	// sent as max_completion_tokens. nil means none.
	Omit []string
	// Extra holds further fields of the request's body, such as {"chat_template_kwargs": {"enable_thinking": false}}, but
	// not model, messages, stream, n and the cap. nil means none.
	Extra map[string]any
	// Notice is told once of each field that the endpoint refuses, and of another model that answers, perhaps from several
	// goroutines at once. nil means nobody.
	Notice func(text string) `json:"-"`
}

// A Client asks one endpoint for completions of one model. It is safe for concurrent use.
type Client struct {
	cfg   Config        // with defaults, and no key
	key   func() string // a closure, so that printing a Client never shows it
	chat  sdk.ChatCompletionService
	own   *http.Client // unless one of Config.Options replaces it
	extra int          // bytes of Config.Extra in a request

	said    sync.Map // the subjects of notices
	mu      sync.Mutex
	without map[string]bool // the fields that the endpoint does not take, and "system" for the role
}

var _ llm.LLM = (*Client)(nil)

// New returns a client. It sends nothing. Its error names the field of cfg that is wrong.
func New(cfg Config) (*Client, error) {
	cfg.BaseURL = cmp.Or(cfg.BaseURL, os.Getenv(EnvBase))
	cfg.APIKey = strings.TrimSpace(cmp.Or(cfg.APIKey, os.Getenv(EnvKey)))
	cfg.Model, cfg.Stream = cfg.Model.WithDefaults(), cfg.Stream.withDefaults()
	base, err := url.Parse(cfg.BaseURL) // the error is not shown, since it may repeat a password
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.User != nil ||
		base.Fragment != "" {
		return nil, fmt.Errorf("openai: Config.BaseURL %q: need a URL such as http://127.0.0.1:8000/v1, without a user, "+
			"here or in %s", shown(cfg.BaseURL), EnvBase)
	}
	if cfg.Model.Name == "" {
		return nil, errors.New("openai: Config.Model has neither a Name nor a Key")
	}
	for _, name := range []string{"model", "messages", "stream", "n", "max_tokens", "max_completion_tokens"} {
		if _, ok := cfg.Extra[name]; ok {
			return nil, fmt.Errorf("openai: Config.Extra holds %q, which the client sets itself", name)
		}
	}
	extra, err := json.Marshal(cfg.Extra)
	if err != nil {
		return nil, fmt.Errorf("openai: Config.Extra cannot be sent: %w", err)
	}
	c := &Client{own: newHTTPClient(), without: map[string]bool{"stream": cfg.Whole},
		extra: len(strings.TrimPrefix(string(extra), "null"))}
	key := cfg.APIKey
	c.key = func() string { return key }
	for _, name := range cfg.Omit {
		c.without[name] = true
	}
	query := base.Query()
	base.Path = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/chat/completions"), "/")
	base.RawPath, base.RawQuery = "", "" // which may hold a key
	cfg.BaseURL = base.String()
	opts := []option.RequestOption{option.WithBaseURL(cfg.BaseURL), option.WithHTTPClient(c.own), option.WithMaxRetries(0),
		option.WithMiddleware(exchange)}
	for name := range query {
		opts = append(opts, option.WithQuery(name, query.Get(name)))
	}
	if query.Has("api-version") && key != "" {
		opts = append(opts, option.WithHeader("Api-Key", key))
	} else if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	c.chat = sdk.NewChatCompletionService(append(opts, cfg.Options...)...)
	cfg.APIKey = ""
	c.cfg = cfg
	return c, nil
}

// shown returns a URL without what may be secret.
func shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "that is malformed"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// newHTTPClient returns a client that follows no redirects, as another server must not get the prompt.
func newHTTPClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: transport{&http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 1 << 16,
			IdleConnTimeout:     4 * time.Second, // vLLM closes it after five, and loses a request sent just then
		}},
	}
}

// A transport seeks a connection for each request that comes to it, which its trace is told before all else.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(req.Context()).GetConn(req.URL.Host)
	return t.Transport.RoundTrip(req)
}

// Header returns the option that sends a header.
func Header(name, value string) option.RequestOption { return option.WithHeader(name, value) }

// Close closes idle connections. Requests in flight go on, and the client can be used again.
func (c *Client) Close() { c.own.CloseIdleConnections() }

// String returns the endpoint and the model.
func (c *Client) String() string { return c.cfg.String() }

// String returns the endpoint and the model.
func (c Config) String() string {
	how := c.Stream.String()
	if c.Whole {
		how = "in one piece"
	}
	return fmt.Sprintf("openai(%s, %v, %s)", shown(cmp.Or(c.BaseURL, "$"+EnvBase)), c.Model, how)
}

// GoString is String: the key stays out of %#v too.
func (c Config) GoString() string { return c.String() }

// The default limits of a [Stream].
const (
	DefaultFirstToken = 2 * time.Minute
	DefaultSilence    = 30 * time.Second
	DefaultMinRate    = 2 // tokens a second
)

// A Stream defines when a streamed answer has stalled. The zero value means the default limits; a negative limit means
// none. An attempt that exceeds a limit ends at once as [llm.Stalled], with the tokens streamed so far. Only text, of the
// answer or of the reasoning, and usage that grows are progress.
type Stream struct {
	// FirstToken bounds the time from sending the request to its first token. 0 means DefaultFirstToken.
	FirstToken time.Duration
	// Silence bounds the time from one token to the next. 0 means DefaultSilence.
	Silence time.Duration
	// MinRate is the lowest rate in tokens a second, in each Window from the first token on. 0 means DefaultMinRate.
	MinRate float64
	Window  time.Duration // 0 means 30 seconds
}

func (s Stream) withDefaults() Stream {
	return Stream{cmp.Or(s.FirstToken, DefaultFirstToken), cmp.Or(s.Silence, DefaultSilence),
		cmp.Or(s.MinRate, DefaultMinRate), cmp.Or(s.Window, 30*time.Second)}
}

// String prints the limits, defaults included.
func (s Stream) String() string {
	s = s.withDefaults()
	return fmt.Sprintf("streamed, first token within %v, silence up to %v, %g tokens/s over %v", s.FirstToken, s.Silence,
		s.MinRate, s.Window)
}

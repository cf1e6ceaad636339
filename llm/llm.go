// Package llm says what a language model is to a search. Combinators take one and return another, so that
// a stack reads as it runs:
//
//	llm.Retry(llm.Limit(client, 16), llm.RetryConfig{Max: 2})
package llm

import (
	"context"
	"time"
)

// An LLM answers requests, and accounts for every attempt it made at one. Implementations are safe for
// concurrent use.
//
// Package llm/openai asks endpoints, and llm/offline stands in for one. llm/pool shares calls out over
// several endpoints of one model, and llm/ensemble lets a bandit choose between models. In [Retry] around
// [Limit], a call that waits to be tried again holds no place.
type LLM interface {
	// Generate asks for one completion. Reply.Attempts lists every attempt made, oldest
	// first, and is valid even if err is not nil: a failed attempt was paid for too.
	//
	// An error for which [Unavailable] is true says that no later request can succeed
	// either, so that a search stops; any other error costs this request alone.
	Generate(ctx context.Context, req Request) (Reply, error)
}

// Func makes an LLM of a function.
type Func func(context.Context, Request) (Reply, error)

var _ LLM = Func(nil)

// Generate calls f.
func (f Func) Generate(ctx context.Context, req Request) (Reply, error) { return f(ctx, req) }

// String says that f is a function: what it does cannot be printed.
func (f Func) String() string { return "llm.Func" }

// The roles of a [Message].
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// A Message is one turn of the conversation shown to the model.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A Request is what the model is asked. Sampling fields left nil take the [Model]'s own value.
type Request struct {
	Messages    []Message `json:"messages"`
	Seed        uint32    `json:"seed"`
	Temperature *float64  `json:"temperature,omitempty"`
	TopP        *float64  `json:"top_p,omitempty"`
	MaxTokens   *int      `json:"max_tokens,omitempty"`
}

// A Reply is the model's answer and the attempts it took.
type Reply struct {
	Text      string    `json:"text"`
	Reasoning string    `json:"reasoning,omitempty"` // thinking that the endpoint sent apart from the answer
	Attempts  []Attempt `json:"attempts"`
}

// A Status says how an attempt ended.
type Status string

// The ways an attempt ends.
const (
	OK       Status = "ok"       // an answer came
	Timeout  Status = "timeout"  // the limit for the whole call passed
	Stalled  Status = "stalled"  // a limit on the stream's progress passed
	Canceled Status = "canceled" // the caller gave up: Ctrl-C, a target reached
	Failed   Status = "error"    // refused, broken or unusable; Attempt.Kind says which
)

// An Attempt is one request to one endpoint, however it ended.
type Attempt struct {
	Status Status `json:"status"`
	// Unsent says that the request certainly never went out, because no connection came about or it
	// broke before, so that it costs nothing under any rule. A request that was canceled by then makes no attempt.
	Unsent bool `json:"unsent,omitempty"`
	// Kind classes an attempt with Status Failed, in one word: one of the Kind constants.
	Kind         string        `json:"kind,omitempty"`
	Usage        *Usage        `json:"usage,omitempty"`    // nil if the server sent none
	Capped       bool          `json:"capped,omitempty"`   // Usage is the most that the request allows: the server claims more
	Streamed     int           `json:"streamed,omitempty"` // completion tokens seen before it ended
	MaxTokens    int           `json:"max_tokens"`         // the cap in force, for worst-case charging
	FinishReason string        `json:"finish_reason,omitempty"`
	Latency      time.Duration `json:"latency"`
	Err          string        `json:"err,omitempty"` // "" if Status is OK
	// Model is the Key of the model that was asked, and ActiveParams its size; both may be
	// zero where a run has one model, whose size the accountant knows.
	Model        string `json:"model,omitempty"`
	ActiveParams int64  `json:"active_params,omitempty"`
	Endpoint     string `json:"endpoint,omitempty"` // which replica was asked; "" if there is one
	// Propensity is the chance with which an ensemble chose Model, on the first attempt that it
	// made there; 0 on others, and where nothing was chosen. See [Learner].
	Propensity float64 `json:"propensity,omitempty"`
}

// Usage counts the tokens of one attempt, as the server reported them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"` // the part of PromptTokens that came from a prefix cache
	CompletionTokens int `json:"completion_tokens"`
}

// PromptTokens returns more than the tokens that any tokenizer makes of messages: one for each byte of their
// text, as a token stands for at least one, 32 for each message and 32 for all, which is what a template
// puts around them.
func PromptTokens(messages []Message) int {
	const around = 32
	n := around
	for _, m := range messages {
		n += len(m.Content) + around
	}
	return n
}

// Clean returns u as far as it can be true, so that no sum of counts overflows or turns negative, whatever
// a server said: negative counts are 0, none is more than 2³⁰, and no more is cached than was in the prompt.
func (u Usage) Clean() Usage {
	const most = 1 << 30
	u.PromptTokens = min(max(u.PromptTokens, 0), most)
	u.CachedTokens = min(max(u.CachedTokens, 0), u.PromptTokens)
	u.CompletionTokens = min(max(u.CompletionTokens, 0), most)
	return u
}

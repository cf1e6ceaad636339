// Package llm defines language models for searches. Combinators take a model and return another, so that a stack reads
// as it runs:
//
//	llm.Retry(llm.Limit(client, 16), llm.RetryConfig{Max: 2})
package llm

import (
	"context"
	"time"
)

// An LLM answers requests, and accounts for every attempt at one. Implementations are safe for concurrent use.
//
// Package llm/openai asks endpoints, and llm/offline stands in for one. llm/pool spreads calls over several endpoints
// of one model. A search chooses between models for each child, see evolve.Proposer. In [Retry] around [Limit], a call
// that waits for its retry holds no slot.
type LLM interface {
	// Generate asks for one completion. Reply.Attempts lists all attempts, oldest first, and is valid even if err is not
	// nil: failed attempts were paid for too.
	//
	// An error for which [Unavailable] is true means that no later request can succeed either, and stops a search; any
	// other error costs only this request.
	Generate(ctx context.Context, req Request) (Reply, error)
}

// Func makes an LLM of a function.
type Func func(context.Context, Request) (Reply, error)

var _ LLM = Func(nil)

// Generate calls f.
func (f Func) Generate(ctx context.Context, req Request) (Reply, error) { return f(ctx, req) }

// String returns "llm.Func" for every f.
func (f Func) String() string { return "llm.Func" }

// The roles of a [Message].
const (
	System     = "system"
	User       = "user"
	Assistant  = "assistant"
	ToolResult = "tool" // what a tool returned, for the call that CallID names
)

// A Message is one turn of a conversation with the model.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Calls are the tools that the model called, in a message of the Assistant.
	Calls []ToolCall `json:"tool_calls,omitempty"`
	// CallID is the ID of the call whose result a message of the role ToolResult is.
	CallID string `json:"tool_call_id,omitempty"`
}

// A Tool is a function that the model may call in its reply.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  string `json:"parameters"` // JSON schema of the arguments, an object
}

// A ToolCall is a call of a tool in a reply. Nothing in it has been checked against the request's tools.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // what the model wrote, which should be a JSON object
}

// A Request is a request for one completion. Nil sampling fields mean the [Model]'s own values.
type Request struct {
	Messages    []Message `json:"messages"`
	Seed        uint32    `json:"seed"`
	Temperature *float64  `json:"temperature,omitempty"`
	TopP        *float64  `json:"top_p,omitempty"`
	MaxTokens   *int      `json:"max_tokens,omitempty"`
	// Tools are those that the model may call. nil means none, and an LLM that knows no tools ignores them.
	Tools []Tool `json:"tools,omitempty"`
}

// A Reply is the model's answer and the attempts it took.
type Reply struct {
	Text      string     `json:"text"`
	Reasoning string     `json:"reasoning,omitempty"` // thinking that the endpoint sent apart from the answer
	Calls     []ToolCall `json:"tool_calls,omitempty"`
	Attempts  []Attempt  `json:"attempts"`
}

// A Status is how an attempt ended.
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
	// Unsent means that the request certainly was not sent, because there was no connection or it broke before, so the
	// attempt costs nothing under any rule. A request canceled before it is sent makes no attempt.
	Unsent bool `json:"unsent,omitempty"`
	// Kind classifies an attempt with Status Failed: one of the Kind constants.
	Kind  string `json:"kind,omitempty"`
	Usage *Usage `json:"usage,omitempty"` // nil if the server sent none
	// Usage is the most that the request allows: the server claims more
	Capped   bool `json:"capped,omitempty"`
	Streamed int  `json:"streamed,omitempty"` // completion tokens seen before it ended, or estimated
	// EstimatedPrompt is about how many prompt tokens a server may charge that sent no usage; 0 with Usage. Runs set it.
	EstimatedPrompt int           `json:"estimated_prompt,omitempty"`
	MaxTokens       int           `json:"max_tokens"` // the cap in force, for worst-case charging
	FinishReason    string        `json:"finish_reason,omitempty"`
	Latency         time.Duration `json:"latency"`
	Err             string        `json:"err,omitempty"` // "" if Status is OK
	// Model is the Key of the model, and ActiveParams its size; both may be zero in a run with one model, whose size the
	// accountant knows.
	Model        string `json:"model,omitempty"`
	ActiveParams int64  `json:"active_params,omitempty"`
	Endpoint     string `json:"endpoint,omitempty"` // which replica was asked; "" if there is one
	// Reported means that Usage and Money are what a program says of calls that it made itself, such as an agent with a
	// login of its own. Nothing can check them.
	Reported bool `json:"reported,omitempty"`
	// Money is what such a program says that the attempt cost, in the currency of the budget; 0 means that it did not say,
	// and Usage is charged at the model's price.
	Money float64 `json:"money,omitempty"`
}

// Known returns the usage, or without it the estimate of the prompt and what was streamed, limited to plausible counts.
func (a Attempt) Known() Usage {
	u := Usage{PromptTokens: a.EstimatedPrompt, CompletionTokens: a.Streamed}
	if a.Usage != nil {
		u = *a.Usage
	}
	return u.Clean()
}

// Usage counts the tokens of one attempt, as the server reported them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"` // the part of PromptTokens that came from a prefix cache
	CompletionTokens int `json:"completion_tokens"`
}

// PromptTokens returns an upper bound of the tokens of req's prompt under any tokenizer: one for each byte of text,
// since a token stands for at least one, plus 32 for each message, each tool and each call of a tool and 32 for all,
// for the template around them.
func PromptTokens(req Request) int {
	const around = 32
	n := around
	for _, m := range req.Messages {
		n += len(m.Content) + len(m.CallID) + around
		for _, c := range m.Calls {
			n += len(c.ID) + len(c.Name) + len(c.Arguments) + around
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters) + around
	}
	return n
}

// EstimateTokens returns about how many tokens a prompt has of which [PromptTokens] returns most, and seldom fewer:
// text has three bytes a token or more.
func EstimateTokens(most int) int { return most / 3 }

// Clean returns u limited to plausible counts, so that sums of whatever servers report cannot overflow or turn
// negative: negative counts become 0, counts are at most 2³⁰, and cached tokens at most those of the prompt.
func (u Usage) Clean() Usage {
	u.PromptTokens, u.CompletionTokens = tokens(u.PromptTokens), tokens(u.CompletionTokens)
	u.CachedTokens = min(max(u.CachedTokens, 0), u.PromptTokens)
	return u
}

// tokens returns n limited to a plausible number of tokens.
func tokens(n int) int { return min(max(n, 0), 1<<30) }

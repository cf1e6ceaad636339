package report

import (
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
)

// An attemptRow is an [llm.Attempt] under the paper's names.
type attemptRow struct {
	Index        int     `json:"attempt_idx"`
	Status       string  `json:"status"`    // ok, timeout, stalled, canceled or error:KIND
	Latency      float64 `json:"latency_s"` // in seconds
	Usage        *usage  `json:"usage"`     // null if the server sent none
	FinishReason *string `json:"finish_reason"`
	TimedOut     bool    `json:"timed_out"` // true of timeouts only, not of stalls
	// EstimatedOutput is what the worst case charges an attempt that timed out or stalled: the cap on new
	// tokens in force, or 0 if it is Unsent.
	EstimatedOutput *int `json:"estimated_output_tokens,omitempty"`
	// EstimatedPrompt is of a server that may charge for the prompt, though it sent no usage.
	EstimatedPrompt int    `json:"estimated_prompt_tokens,omitempty"`
	Unsent          bool   `json:"unsent,omitempty"` // it never went out, and costs nothing
	Error           string `json:"error,omitempty"`
	Streamed        int    `json:"streamed_tokens,omitempty"`
	// Usage is the most that the request allows: the server claimed more
	Capped   bool   `json:"usage_capped,omitempty"`
	Model    string `json:"model,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	// Reported says that usage and money are the word of a program that made the calls itself.
	Reported bool    `json:"reported,omitempty"`
	Money    float64 `json:"money,omitempty"`
}

// A usage counts the tokens of an attempt, in the form of OpenAI-compatible endpoints. Cached tokens are
// among those of the prompt.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func newAttempt(i int, a llm.Attempt) attemptRow {
	row := attemptRow{
		Index: i, Status: string(a.Status), Latency: a.Latency.Seconds(), TimedOut: a.Status == llm.Timeout, Unsent: a.Unsent,
		Error: a.Err, Streamed: a.Streamed, Capped: a.Capped, Model: a.Model, Endpoint: a.Endpoint,
		Reported: a.Reported, Money: a.Money, EstimatedPrompt: a.EstimatedPrompt,
	}
	if a.Status == llm.Failed {
		row.Status = fmt.Sprintf("error:%s", a.Kind)
	}
	if a.FinishReason != "" {
		row.FinishReason = &a.FinishReason
	}
	if row.TimedOut || a.Status == llm.Stalled {
		row.EstimatedOutput = &a.MaxTokens
		if a.Unsent {
			row.EstimatedOutput = new(int)
		}
	}
	if u := a.Usage; u != nil {
		row.Usage = &usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.PromptTokens + u.CompletionTokens}
		row.Usage.Details.Cached = u.CachedTokens
	}
	return row
}

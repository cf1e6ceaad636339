package result

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// Attempts are those of one call, oldest first. In a file they have the paper's names.
type Attempts []llm.Attempt

// An attempt is an [llm.Attempt] under the paper's names.
type attempt struct {
	Index        int     `json:"attempt_idx"`
	Status       string  `json:"status"`    // ok, timeout, stalled, canceled or error:KIND
	Latency      float64 `json:"latency_s"` // in seconds
	Usage        *usage  `json:"usage"`     // null if the server sent none
	FinishReason *string `json:"finish_reason"`
	TimedOut     bool    `json:"timed_out"` // true of timeouts only, not of stalls
	// of one that timed out or stalled, what the worst case charges: the cap on new tokens, or 0 if it is Unsent
	EstimatedOutput *int    `json:"estimated_output_tokens,omitempty"`
	EstimatedPrompt int     `json:"estimated_prompt_tokens,omitempty"` // which may be charged without usage
	Unsent          bool    `json:"unsent,omitempty"`                  // it never went out, and costs nothing
	Error           string  `json:"error,omitempty"`
	Streamed        int     `json:"streamed_tokens,omitempty"`
	Capped          bool    `json:"usage_capped,omitempty"` // the server claimed more than the request allows
	Model           string  `json:"model,omitempty"`
	Endpoint        string  `json:"endpoint,omitempty"`
	Reported        bool    `json:"reported,omitempty"` // usage and money are the word of a program that made the calls
	Money           float64 `json:"money,omitempty"`
}

// A usage counts tokens in the form of OpenAI-compatible endpoints. Cached ones are among those of the prompt.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// FinalStatus returns the last attempt's status as a file has it, "" without attempts.
func (list Attempts) FinalStatus() *string {
	if n := len(list); n > 0 {
		return new(statusOf(list[n-1]))
	}
	return new(string)
}

func statusOf(a llm.Attempt) string {
	if a.Status == llm.Failed {
		return "error:" + string(a.Kind)
	}
	return string(a.Status)
}

// MarshalJSON returns the attempts under the paper's names.
func (list Attempts) MarshalJSON() ([]byte, error) {
	rows := make([]attempt, len(list))
	for i, a := range list {
		rows[i] = attempt{Index: i, Status: statusOf(a), Latency: a.Latency.Seconds(), TimedOut: a.Status == llm.Timeout,
			Unsent: a.Unsent, Error: a.Err, Streamed: a.Streamed, Capped: a.Capped, Model: a.Model, Endpoint: a.Endpoint,
			Reported: a.Reported, Money: a.Money, EstimatedPrompt: a.EstimatedPrompt}
		row := &rows[i]
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
			row.Usage = &usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens,
				Total: u.PromptTokens + u.CompletionTokens}
			row.Usage.Details.Cached = u.CachedTokens
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the encoder that calls this escapes its output itself, unless told not to
	err := e.Encode(rows)
	return b.Bytes(), err
}

// UnmarshalJSON reads attempts. It does not know what files lack: the caps of attempts that ended otherwise than late.
func (list *Attempts) UnmarshalJSON(data []byte) error {
	var rows []attempt
	if err := mismatched(json.Unmarshal(data, &rows)); err != nil || rows == nil {
		return err
	}
	*list = make(Attempts, len(rows))
	for i, row := range rows {
		status, kind, _ := strings.Cut(row.Status, ":")
		if status == "error" {
			status = string(llm.Failed)
		}
		a := &(*list)[i]
		*a = llm.Attempt{Status: llm.Status(status), Kind: kind, Unsent: row.Unsent, Streamed: row.Streamed,
			Capped: row.Capped, Err: row.Error, Latency: time.Duration(row.Latency * float64(time.Second)), Model: row.Model,
			Endpoint: row.Endpoint, Reported: row.Reported, Money: row.Money, EstimatedPrompt: row.EstimatedPrompt}
		if row.EstimatedOutput != nil {
			a.MaxTokens = *row.EstimatedOutput
		}
		if row.FinishReason != nil {
			a.FinishReason = *row.FinishReason
		}
		if u := row.Usage; u != nil {
			a.Usage = &llm.Usage{PromptTokens: u.Prompt, CachedTokens: u.Details.Cached, CompletionTokens: u.Completion}
		}
	}
	return nil
}

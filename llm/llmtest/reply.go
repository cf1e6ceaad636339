package llmtest

import (
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// Usage is a request's usage as a server reports it: prompt, cached and completion tokens.
type Usage = llm.Usage

// wireOf returns u as reported, corrupted by f, or nil if it is not reported.
func wireOf(u Usage, f Fault) *wireUsage {
	w := &wireUsage{u.PromptTokens, u.CompletionTokens, u.PromptTokens + u.CompletionTokens, details{u.CachedTokens}}
	switch f {
	case noUsage:
		return nil
	case negativeUsage:
		w.Prompt, w.Completion, w.Total = -w.Prompt, -w.Completion, -w.Total
	case cachedAbove:
		w.Details.Cached = w.Prompt + 100
	}
	return w
}

// block is the size of a prefix cache's blocks in tokens; vLLM's default is 16.
const block = 16

// Tokens estimates the tokens of s: one for every four bytes, rounded up.
func Tokens(s string) int { return (len(s) + 3) / 4 }

// CountUsage is the usage that a [Server] reports by default: Tokens of all messages, of the tools and their calls, and
// of the reply, and as cached
// the leading system message, which a run's requests share, in whole blocks of 16 tokens. The first request counts it
// as cached too, so that usage does not depend on order.
func CountUsage(req Request, reply string) Usage {
	u := Usage{CompletionTokens: Tokens(reply)}
	for _, t := range req.Tools {
		u.PromptTokens += Tokens(t.Name + t.Description + t.Parameters)
	}
	for i, m := range req.Messages {
		n := Tokens(m.Content) + Tokens(written(m.Calls))
		u.PromptTokens += n
		if i == 0 && m.Role == llm.System {
			u.CachedTokens = n / block * block
		}
	}
	return u
}

// Echo returns a Config.Reply that sends back the program in the prompt, in a fenced block: the first block of the last
// message, or else the whole message. edit changes the program, with req.Rand for chance; nil means no change.
func Echo(edit func(req Request, program string) string) func(Request) string {
	return func(req Request) string {
		info, program := fenced(req.Messages[len(req.Messages)-1].Content)
		if edit != nil {
			program = edit(req, program)
		}
		return "```" + info + "\n" + strings.TrimSuffix(program, "\n") + "\n```\n"
	}
}

// fenced returns the first block fenced by backquotes in s and its info string.
func fenced(s string) (info, program string) {
	_, rest, ok := strings.Cut("\n"+s, "\n```")
	if !ok {
		return "", s
	}
	info, rest, _ = strings.Cut(rest, "\n")
	program, _, _ = strings.Cut("\n"+rest, "\n```")
	return strings.TrimSpace(info), strings.TrimPrefix(program, "\n")
}

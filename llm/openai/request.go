package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/tidwall/gjson"

	"github.com/evoalloc/evoalloc/llm"
)

// continuous is vLLM's option for usage in every chunk.
const continuous = "stream_options.continuous_usage_stats"

// params returns the body of a request, but for what the endpoint does not take. The caller holds mu.
func (c *Client) params(req llm.Request) (p sdk.ChatCompletionNewParams, err error) {
	without, limit := c.without, int64(or(req.MaxTokens, c.cfg.Model.MaxTokens))
	t, topP := or(req.Temperature, c.cfg.Model.Temperature), or(req.TopP, c.cfg.Model.TopP)
	if sum := t + topP; len(req.Messages) == 0 || limit < 1 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return p, fmt.Errorf("%d messages, max tokens %d, temperature %v, top-p %v: need a message, a token, finite numbers",
			len(req.Messages), limit, t, topP)
	}
	p.Model = c.cfg.Model.Name
	if (req.Temperature != nil || t != 0) && !without["temperature"] {
		p.Temperature = param.NewOpt(t)
	}
	if (req.TopP != nil || topP != 0) && !without["top_p"] {
		p.TopP = param.NewOpt(topP)
	}
	if c.cfg.Seed && !without["seed"] {
		p.Seed = param.NewOpt(int64(req.Seed))
	}
	if p.MaxTokens = param.NewOpt(limit); without["max_tokens"] {
		p.MaxTokens, p.MaxCompletionTokens = p.MaxCompletionTokens, p.MaxTokens
	}
	extra := map[string]any{}
	for name, value := range c.cfg.Extra {
		if !without[name] && (name != "stream_options" || !without["stream"]) { // which no endpoint takes alone
			extra[name] = value
		}
	}
	if !without["stream"] {
		extra["stream"] = true
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
		if !without[continuous] {
			p.StreamOptions.SetExtraFields(map[string]any{"continuous_usage_stats": true})
		}
	}
	if without["stream_options"] {
		p.StreamOptions = sdk.ChatCompletionStreamOptionsParam{}
	}
	p.SetExtraFields(extra)
	if p.Messages, err = messages(req.Messages, without["system"]); err == nil {
		p.Tools, err = tools(req.Tools)
	}
	return p, err
}

func or[T any](override *T, own T) T {
	if override != nil {
		return *override
	}
	return own
}

// messages returns list in the protocol's form. If merged, the system's text stands before that of the next user.
func messages(list []llm.Message, merged bool) (all []sdk.ChatCompletionMessageParamUnion, err error) {
	system := ""
	for i, m := range list {
		switch {
		case m.Role == llm.System && merged && i < len(list)-1:
			system += m.Content + "\n\n"
		case m.Role == llm.System && !merged:
			all = append(all, sdk.SystemMessage(m.Content))
		case m.Role == llm.User, m.Role == llm.System:
			all, system = append(all, sdk.UserMessage(system+m.Content)), ""
		case m.Role == llm.ToolResult:
			all = append(all, sdk.ToolMessage(m.Content, m.CallID))
		case m.Role == llm.Assistant:
			a := sdk.AssistantMessage(m.Content)
			if m.Content == "" && len(m.Calls) > 0 {
				a.OfAssistant.Content = sdk.ChatCompletionAssistantMessageParamContentUnion{}
			}
			for _, c := range m.Calls {
				f := sdk.ChatCompletionMessageFunctionToolCallParam{ID: c.ID}
				f.Function.Name, f.Function.Arguments = c.Name, c.Arguments
				call := sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &f}
				a.OfAssistant.ToolCalls = append(a.OfAssistant.ToolCalls, call)
			}
			all = append(all, a)
		default:
			return nil, fmt.Errorf("message %d has the role %q: need system, user, assistant or tool", i, m.Role)
		}
	}
	return all, nil
}

// tools returns list in the protocol's form.
func tools(list []llm.Tool) (all []sdk.ChatCompletionToolUnionParam, err error) {
	for _, t := range list {
		f := sdk.FunctionDefinitionParam{Name: t.Name, Description: param.NewOpt(t.Description)}
		if t.Parameters != "" {
			err = json.Unmarshal([]byte(t.Parameters), &f.Parameters)
		}
		if err != nil || t.Name == "" {
			return nil, fmt.Errorf("tool %q: need a name, and parameters that are a JSON object: %v", t.Name, err)
		}
		all = append(all, sdk.ChatCompletionFunctionTool(f))
	}
	return all, nil
}

// learn notes which fields of p the endpoint refuses by r, and says so once. It returns false if r names none.
func (c *Client) learn(p sdk.ChatCompletionNewParams, r *refusal) bool {
	if kindOf(r) != llm.KindBadRequest && (r.StatusCode != 501 || !words["stream"].MatchString(r.Message)) {
		return false
	}
	names := r.named(sentBy(p))
	c.mu.Lock()
	for _, name := range names {
		c.without[name] = true
	}
	c.mu.Unlock()
	remedies := map[string]string{"max_tokens": "the cap is sent as max_completion_tokens",
		"system": "the system's text stands before the user's", "stream": "answers come in one piece"}
	for _, name := range names {
		c.notice(name, "the endpoint refuses %s, so %s from now on; it said: %s", name,
			cmp.Or(remedies[name], "it is not sent"), r.Message)
	}
	return len(names) > 0
}

// notice tells Config.Notice of subject, once.
func (c *Client) notice(subject, format string, args ...any) {
	if _, said := c.said.LoadOrStore(subject, true); !said && c.cfg.Notice != nil {
		c.cfg.Notice(c.clean(c.cfg.BaseURL + ": " + fmt.Sprintf(format, args...)))
	}
}

// sentBy returns the fields of p that need not be sent as they are.
func sentBy(p sdk.ChatCompletionNewParams) (names []string) {
	body, _ := p.MarshalJSON() // it was sent
	for path, name := range map[string]string{continuous: continuous, `messages.#(role=="system")`: "system"} {
		if gjson.GetBytes(body, path).Exists() {
			names = append(names, name)
		}
	}
	gjson.ParseBytes(body).ForEach(func(key, _ gjson.Result) bool {
		if !slices.Contains([]string{"model", "messages", "tools", "max_completion_tokens"}, key.Str) {
			names = append(names, key.Str)
		}
		return true
	})
	return names
}

var (
	// refusing matches the words by which endpoints refuse a field, and limiting those about its value.
	refusing = regexp.MustCompile(`(?i)unsupported|(not|n't|longer) support|unknown|unrecogni|\bextra|extraneous|` +
		`deprecated|(not|never) (be )?(permitted|allowed|accepted|enabled)|unexpected|both|only one|forbidden|` +
		`additional prop|cannot find|instead`)
	limiting = regexp.MustCompile(`(?i)too (large|long|high|small|low|big)|at (most|least)|(less|greater|more) than|` +
		`exceed|between|range|maximum|minimum|must be`)
	either = regexp.MustCompile(`(?i)\bboth\b|only one|together|either`) // of two fields
	// words match what is refused under other words than its name.
	words = map[string]*regexp.Regexp{"stream": regexp.MustCompile(`(?i)\bstream(ing|ed|s)?\b`),
		continuous: regexp.MustCompile("continuous_usage_stats"),
		"system": regexp.MustCompile(`(?i)\bsystem\W{0,3}(role|message|prompt|instruction)|developer instruction|` +
			`role.{0,40}\bsystem\b|roles must alternate`)}
)

// named returns those of the sent fields that r refuses: the ones that it names apart from its text, or else in words.
func (r *refusal) named(sent []string) (names []string) {
	for _, name := range sent {
		apart := func(f string) bool { return strings.Contains("."+f+".", "."+name+".") }
		word := words[name]
		if word == nil {
			word = regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		}
		if slices.ContainsFunc(r.fields, apart) ||
			(len(r.fields) == 0 || name == "system") && word.MatchString(r.Message) {
			names = append(names, name)
		}
	}
	switch {
	case slices.Contains(names, continuous): // the part of the options, and not all
		return []string{continuous}
	case limiting.MatchString(r.Message) && !refusing.MatchString(r.Code+" "+r.Type+" "+r.Message):
		return slices.DeleteFunc(names, func(name string) bool { return name != "seed" }) // whose value nobody chose
	case len(names) > 1 && either.MatchString(r.Message):
		return names[len(names)-1:]
	}
	return names
}

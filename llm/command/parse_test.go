package command_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/command"
)

// claudes is what "claude -p --output-format json" prints, in the fields that are read and some others.
const claudes = `{"type":"result","subtype":"success","is_error":false,"duration_ms":3952,"num_turns":1,"result":"hello\n",` +
	`"session_id":"s","total_cost_usd":0.10457895,"usage":{"input_tokens":2,"output_tokens":9,"cache_creation_input_tokens":7924,` +
	`"cache_read_input_tokens":13368,"service_tier":"standard"},"permission_denials":[]}`

func TestParse(t *testing.T) {
	usage := &llm.Usage{PromptTokens: 2 + 7924 + 13368, CachedTokens: 13368, CompletionTokens: 9}
	paths := command.JSON(command.Fields{Text: "a.b", Model: "m", Money: "cost", Failed: "error", Prompt: []string{"in"},
		Completion: "out"})
	for _, tt := range []struct {
		reason string
		parse  command.Parse
		stdout string
		want   command.Output
		says   string // "" if there is no error
	}{
		{"text", command.Text, "hello\n", command.Output{Text: "hello\n"}, ""},
		{"text with colours", command.Text, "\x1b[1;31mhel\x1b[0mlo\x1b]0;title\x07", command.Output{Text: "hello"}, ""},
		{"text that is not UTF-8", command.Text, "h\xffi", command.Output{Text: "h\ufffdi"}, ""},
		{"nothing", command.Text, " \n", command.Output{}, "no reply"},
		{"a binary", command.Text, "\x7fELF\x00\x01", command.Output{}, "no text"},
		{"Claude Code's", command.Claude, claudes, command.Output{Text: "hello\n", Usage: usage, Money: 0.10457895}, ""},
		{"its stream, whose last line is the result", command.Claude, `{"type":"system"}` + "\n" + claudes + "\n",
			command.Output{Text: "hello\n", Usage: usage, Money: 0.10457895}, ""},
		{"its error, which was paid for", command.Claude, strings.Replace(claudes, `"is_error":false`, `"is_error":true`, 1),
			command.Output{Text: "hello\n", Usage: usage, Money: 0.10457895}, "reports an error: hello"},
		{"words before the object", paths, "Loading {...}\n" + `{"a":{"b":"x"},"m":"small","in":3,"out":4}` + "\nbye",
			command.Output{Text: "x", Model: "small", Usage: &llm.Usage{PromptTokens: 3, CompletionTokens: 4}}, ""},
		{"an object over several lines", paths, "{\n\"a\": {\"b\": \"x\"}\n}\n", command.Output{Text: "x"}, ""},
		{"an error that is a text", paths, `{"error":"no credit","in":3}`, command.Output{Usage: &llm.Usage{PromptTokens: 3}},
			"reports an error: no credit"},
		{"counts that lie", paths, `{"a":{"b":"x"},"in":-3,"out":1e300,"cost":-1}`,
			command.Output{Text: "x", Usage: &llm.Usage{CompletionTokens: 1 << 30}, Money: -1}, ""},
		{"counts that are words", paths, `{"a":{"b":"x"},"in":"many","out":null,"cost":"much"}`, command.Output{Text: "x"},
			""},
		{"a text that is a number", paths, `{"a":{"b":7}}`, command.Output{}, "no reply"},
		{"a place below a text", paths, `{"a":"b"}`, command.Output{}, "no reply"},
		{"no object", paths, "hello\n[1]\nnull", command.Output{}, "no line of the output is a JSON object: hello [1] null"},
		{"nothing, for an object", paths, "", command.Output{}, "no reply"},
	} {
		got, err := tt.parse([]byte(tt.stdout))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{claudes, "hello", "{}\n{", `{"usage":{"input_tokens":1e999}}`, "\x1b[",
		`{"result":{},"usage":[],"is_error":"x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		for _, parse := range []command.Parse{command.Text, command.Claude} {
			o, err := parse(stdout)
			if err == nil && strings.TrimSpace(o.Text) == "" && !strings.ContainsRune(string(stdout), 0x1b) {
				t.Errorf("%q is a reply without text", stdout)
			}
			if u := o.Usage; u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens < 0) ||
				math.IsNaN(o.Money) {
				t.Errorf("%q has usage %+v, %v", stdout, u, o.Money)
			}
		}
	})
}

func TestPrompt(t *testing.T) {
	system, user := llm.Message{Role: llm.System, Content: "Be brief.\n"}, llm.Message{Role: llm.User, Content: "hi"}
	for want, messages := range map[string][]llm.Message{
		"hi\n":              {user},
		"Be brief.\n\nhi\n": {system, user},
		"### system\n\nBe brief.\n\n### user\n\nhi\n\n### assistant\n\nyes?\n\n### user\n\nhi\n": {system, user,
			{Role: llm.Assistant, Content: "yes?"}, user},
	} {
		if got, err := command.Prompt(llm.Request{Messages: messages}); got != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

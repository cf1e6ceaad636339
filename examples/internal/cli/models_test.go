package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// What the flags say of requests is what an endpoint gets.
func TestRequestsHaveWhatTheFlagsSay(t *testing.T) {
	t.Setenv("TEAM_KEY", "k")
	const model = "--model m --model-name m --params-active 1 --stream=false "
	for args, want := range map[string]struct{ header, has, hasNot string }{
		"":                            {"", `"max_tokens":16000`, "temperature top_p seed stream"},
		"--strict":                    {"", `"temperature":0.4,"top_p":0.95`, "stream"},
		"--temperature 0.7 --seed 41": {"", `"seed":7,"temperature":0.7`, "top_p"},
		"--header api-key:$TEAM_KEY --header X-A:b":                 {"k b", `"max_tokens"`, "seed"},
		"--strict --omit temperature,seed":                          {"", `"top_p":0.95`, "temperature seed"},
		"--max-completion-tokens --max-tokens 9 --omit x":           {"", `"max_completion_tokens":9`, `"max_tokens`},
		`--extra {"max_completion_tokens":9,"top_k":1}`:             {"", `"max_completion_tokens":9`, `"max_tokens`},
		`--extra {"top_k":1} --reasoning-effort low --max-tokens 9`: {"", `"reasoning_effort":"low","top_k":1`, "seed"},
	} {
		var got, header string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got, header = string(body), strings.TrimSpace(r.Header.Get("Api-Key")+" "+r.Header.Get("X-A"))
			io.WriteString(w, `{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}`)
		}))
		defer srv.Close()
		var o Options
		fs := NewFlags("greedy", "")
		o.Register(fs)
		new(Search).Register(fs)
		if err := o.Parse(fs, strings.Fields(model+args+" --api-base "+srv.URL)); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		_, l, err := o.Connect(func(m llm.Model, base string) (llm.LLM, error) { return openai.New(o.Client(m, base)) })
		if err != nil {
			t.Fatal(err)
		}
		req := llm.Request{Seed: 7, Messages: []llm.Message{{Role: llm.User, Content: "hi"}}}
		if _, err := l.LLM.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if header != want.header || !strings.Contains(got, want.has) {
			t.Errorf("%s: %s with the headers %q, want %s and %q", args, got, header, want.has, want.header)
		}
		for name := range strings.FieldsSeq(want.hasNot) {
			if strings.Contains(got, name) {
				t.Errorf("%s: %s has %s", args, got, name)
			}
		}
	}
}

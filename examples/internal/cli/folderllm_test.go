package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/runtest"
)

// folderWith makes a folder with a program, an evaluator and a config.yaml.
func folderWith(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"initial_program.py": "x = 1\n", "evaluator.py": "def evaluate(p): return {}\n", "config.yaml": config,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const twoModels = `llm:
  api_base: http://127.0.0.1:1/v1
  models:
    - {name: Qwen/Qwen3-8B, weight: 0.8}
    - {name: other, weight: 0.2}
  temperature: 0.7
  max_tokens: 4096
`

// What the folder says counts where no flag does, and both are told.
func TestFolderLLM(t *testing.T) {
	for _, tt := range []struct {
		config, args, want, says, reason string
	}{
		{twoModels, "--params-active 8,7", "qwen3-8b=0.8,other=0.2 Qwen/Qwen3-8B,other 0.7 0 4096",
			"config.yaml: model qwen3-8b=0.8,other=0.2, model-name Qwen/Qwen3-8B,other, temperature 0.7, max-tokens 4096; " +
				"not taken: llm.api_base\n", "all that it says, of a known model by its key"},
		{twoModels, "--model qwen3-8b --temperature 0.1", "qwen3-8b  0.1 0 4096",
			"config.yaml: max-tokens 4096; not taken: model qwen3-8b=0.8,other=0.2, as --model is given, " +
				"temperature 0.7, as --temperature is given, llm.api_base\n", "flags count in its place"},
		{"llm: {primary_model: Qwen/Qwen3-8B, top_p: 0.5}", "", "qwen3-8b Qwen/Qwen3-8B 0 0.5 0",
			"config.yaml: model qwen3-8b, model-name Qwen/Qwen3-8B, top-p 0.5; not taken: nothing\n", "one model has no weight"},
		{"llm: {primary_model: Qwen/Qwen3-8B, max_tokens: 1000000}", "", "qwen3-8b Qwen/Qwen3-8B 0 0 1000000",
			"config.yaml: model qwen3-8b, model-name Qwen/Qwen3-8B, max-tokens 1000000; not taken: nothing\n", "a large number"},
		{"llm: {primary_model: Qwen/Qwen3-8B, temperature: 0, top_p: 0.0}", "", "qwen3-8b Qwen/Qwen3-8B 0 0 0",
			"config.yaml: model qwen3-8b, model-name Qwen/Qwen3-8B; not taken: llm.temperature of 0, as --temperature needs more, " +
				"llm.top_p of 0, as --top-p needs more\n", "what no request can have"},
	} {
		dir := folderWith(t, tt.config)
		o, err := parsed(append([]string{"--folder-llm", "--task", dir}, strings.Fields(tt.args)...))
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		if got := fmt.Sprint(o.Model, " ", o.ModelName, " ", o.Temperature, " ", o.TopP, " ", o.MaxTokens); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
		if says := runtest.Output(t, func() { o.folder.say(dir) }); says != "from "+dir+"/"+tt.says {
			t.Errorf("%s: it says %q, want %q", tt.reason, says, tt.says)
		}
	}
}

func TestWrongFolderLLM(t *testing.T) {
	for _, tt := range []struct{ config, args, want, reason string }{
		{"", "--folder-llm --task cp", "no effect on the task cp", "no folder"},
		{"llm: {temperature: 0.2}", "--folder-llm --task DIR", "names no model: give --model",
			"the offline model has no temperature"},
		{"llm: {temperature: hot}", "--folder-llm --task DIR", `llm.temperature is "hot"`, "a wrong value"},
		{"llm: {primary_model: 'a,b'}", "--folder-llm --task DIR", "give --model", "a name that would be two"},
	} {
		_, err := parsed(strings.Fields(strings.ReplaceAll(tt.args, "DIR", folderWith(t, tt.config))))
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want a usage error with %q", tt.reason, err, tt.want)
		}
	}
}

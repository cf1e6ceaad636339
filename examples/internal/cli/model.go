package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// model returns the model's value and what answers for it.
func (o *Options) model() (llm.Model, llm.LLM, error) {
	if err := o.checkModel(); err != nil {
		return llm.Model{}, nil, err
	}
	if o.offline() {
		m, err := offline.New(offline.Config{Latency: o.Latency})
		if err != nil {
			return llm.Model{}, nil, err
		}
		return m.Spec(), m, nil
	}
	model := llm.Model{Key: o.Model, Name: o.ModelName, ActiveParams: o.ActiveParams}
	for _, m := range llm.Models() {
		if m.Key == o.Model {
			model.Name, model.ActiveParams = cmp.Or(o.ModelName, m.Name), cmp.Or(o.ActiveParams, m.ActiveParams)
		}
	}
	if model.Name == "" || model.ActiveParams <= 0 {
		return model, nil, Usagef("unknown model %q: it is one of %s; for another one give --model-name and --params-active", o.Model, strings.Join(modelKeys(), ", "))
	}
	model.Timeout = o.Timeout
	l, err := o.endpoints(model)
	if err != nil {
		return model, nil, &UsageError{err}
	}
	return model, l, nil
}

// offline reports whether the model is the stand-in.
func (o *Options) offline() bool { return o.Model == offline.Nominal().Key }

// checkModel finds flags that would have no effect, lest a run not be what it was meant to be, and keys
// that cannot name a folder of results.
func (o *Options) checkModel() error {
	for _, name := range []string{"api-base", "model-name", "params-active", "stream"} {
		if o.offline() && o.given[name] {
			return Usagef("--%s has no effect on the offline model: name another one with --model", name)
		}
	}
	for _, name := range []string{"first-token", "silence", "min-rate"} {
		if !o.Stream && o.given[name] {
			return Usagef("--%s has no effect without --stream", name)
		}
	}
	switch {
	case o.ActiveParams < 0:
		return Usagef("--params-active is %d: need more than 0", o.ActiveParams)
	case !filepath.IsLocal(o.Model):
		return Usagef("--model %q: need a key that can name a folder of results, such as qwen3-8b or Qwen/Qwen3-8B", o.Model)
	}
	return nil
}

// endpoints returns a client of the endpoint, or a pool of clients of several.
func (o *Options) endpoints(model llm.Model) (llm.LLM, error) {
	var pool []llm.Endpoint
	for base := range strings.SplitSeq(cmp.Or(o.APIBase, os.Getenv(openai.EnvBase)), ",") {
		cfg := openai.Config{BaseURL: strings.TrimSpace(base), Model: model}
		if o.Stream {
			cfg.Stream = &o.Stalls
		}
		client, err := openai.New(cfg)
		if err != nil {
			return nil, err
		}
		pool = append(pool, llm.Endpoint{Name: cfg.BaseURL, LLM: client})
	}
	if len(pool) == 1 {
		return pool[0].LLM, nil
	}
	return llm.NewPool(llm.PoolConfig{Endpoints: pool, Places: o.ParallelLLM})
}

func modelKeys() []string {
	keys := []string{offline.Nominal().Key}
	for _, m := range llm.Models() {
		keys = append(keys, m.Key)
	}
	return keys
}

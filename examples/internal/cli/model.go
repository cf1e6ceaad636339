package cli

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/llm/pool"
)

// Offline reports whether all models are stand-ins.
func (o *Options) Offline() bool {
	keys, _, _ := weighted(o.Model) // what is wrong, specs says
	return !slices.ContainsFunc(keys, func(key string) bool { return !isOffline(key) })
}

// isOffline reports whether key is that of the stand-in, or of one of a temper.
func isOffline(key string) bool {
	name, _, _ := strings.Cut(key, "-")
	return name == offline.Nominal().Key
}

// asksOffline reports whether the stand-in is among the models.
func (o *Options) asksOffline() bool {
	keys, _, _ := weighted(o.Model)
	return slices.ContainsFunc(keys, isOffline)
}

// checkModel refuses flags without effect, which would hide a mistake, and keys that cannot name a folder of results.
func (o *Options) checkModel() error {
	for _, name := range []string{"api-base", "model-name", "params-active", "temperature", "top-p", "max-tokens",
		"reasoning-effort", "extra", "header", "omit", "max-completion-tokens", "stream", "first-token", "silence",
		"min-rate"} {
		if o.Offline() && o.given[name] {
			return Usagef("--%s has no effect on the offline model: name another one with --model", name)
		}
	}
	if !o.asksOffline() && o.given["offline-latency"] {
		return Usagef("--offline-latency has no effect on %s: it is the offline model's", o.Model)
	}
	for _, name := range []string{"first-token", "silence", "min-rate"} {
		if !o.Stream && o.given[name] {
			return Usagef("--%s has no effect with --stream=false", name)
		}
	}
	// What a budget reckons with must not be another number in the request.
	if n, ok := o.Extra["max_completion_tokens"].(float64); ok && n >= 1 && n <= 1<<30 && !o.given["max-tokens"] {
		o.MaxTokens, o.omit = int(n), append(o.omit, "max_tokens")
		delete(o.Extra, "max_completion_tokens")
	}
	for field, flag := range map[string]string{"max_tokens": "max-tokens", "max_completion_tokens": "max-tokens",
		"temperature": "temperature", "top_p": "top-p", "reasoning_effort": "reasoning-effort"} {
		if _, there := o.Extra[field]; there {
			return Usagef("--extra has %q: give it by --%s", field, flag)
		}
	}
	switch {
	case !filepath.IsLocal(o.Model):
		return Usagef("--model %q: need a key that can name a folder of results, such as qwen3-8b or Qwen/Qwen3-8B", o.Model)
	}
	return nil
}

// Endpoints returns the model that connect opens at the URL bases, a value of --api-base, or at the environment's if
// that is empty; or for several URLs, separated by commas, a pool of models with so many slots each. It prints the
// first failure of each kind. Wrong URLs are a [UsageError].
func Endpoints(bases string, places int, connect func(base string) (llm.LLM, error)) (llm.LLM, error) {
	from := "--api-base"
	if bases == "" {
		bases, from = os.Getenv(openai.EnvBase), openai.EnvBase
	}
	urls := strings.Split(bases, ",")
	for i, base := range urls {
		urls[i] = strings.TrimSpace(base)
	}
	if bases == "" {
		from = "--api-base" // what the client says of none names the variable by itself
	} else if err := checkURLs(from, urls); err != nil {
		return nil, err
	}
	var endpoints []pool.Endpoint
	told := new(failures)
	for _, base := range urls {
		client, err := connect(base)
		if err != nil {
			return nil, Usagef("%s", strings.ReplaceAll(err.Error(), "Config.BaseURL", from))
		}
		endpoints = append(endpoints, pool.Endpoint{Name: base, LLM: overheard{client, told}})
	}
	if len(endpoints) == 1 {
		return endpoints[0].LLM, nil
	}
	return pool.New(pool.Config{Endpoints: endpoints, Slots: places})
}

// checkURLs finds missing and duplicate URLs in a list, the value of from.
func checkURLs(from string, urls []string) error {
	first := map[string]int{}
	for i, base := range urls {
		if base == "" {
			return Usagef("%s %q: there is no URL in place %d: need one before each comma and after the last",
				from, shownURLs(urls), i+1)
		}
		same := strings.TrimRight(base, "/")
		if j, twice := first[same]; twice {
			return Usagef("%s %q: the URLs in places %d and %d are the same: name each replica once", from, shownURLs(urls), j+1,
				i+1)
		}
		first[same] = i
	}
	return nil
}

// shownURLs returns a list of URLs for messages, without passwords.
func shownURLs(urls []string) string {
	var list []string
	for _, base := range urls {
		if u, err := url.Parse(base); err == nil {
			base = u.Redacted()
		}
		list = append(list, base)
	}
	return strings.Join(list, ",")
}

func modelKeys() []string {
	keys := []string{offline.Nominal().Key}
	for _, m := range llm.Models() {
		keys = append(keys, m.Key)
	}
	return keys
}

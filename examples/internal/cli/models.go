package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// Connect returns who proposes by the flags, at endpoints that connect opens, and the model that calls are charged as.
// Wrong flags are a [UsageError].
func (o *Options) Connect(connect func(m llm.Model, base string) (llm.LLM, error)) (spec llm.Model, p Proposing, err error) {
	specs, err := o.specs()
	if err != nil {
		return spec, p, err
	}
	var models []evolve.Proposer
	for _, m := range specs {
		bases, err := o.bases(m.Key, specs)
		if err != nil {
			return spec, p, err
		}
		l, err := Endpoints(bases, o.ParallelLLM, func(base string) (llm.LLM, error) { return connect(m, base) })
		if err != nil {
			return spec, p, err
		}
		models = append(models, evolve.Proposer{Name: m.Key, LLM: l})
	}
	return o.of(specs, models)
}

// StandIn returns the stand-ins that --model names, each of a temper, in the place of models.
func (o *Options) StandIn(of offline.Config) (spec llm.Model, p Proposing, err error) {
	specs, err := o.specs()
	if err != nil {
		return spec, p, err
	}
	var models []evolve.Proposer
	for i, m := range specs {
		of.Model, of.Latency = offline.Nominal(), o.Latency
		of.Model.Key = m.Key
		_, of.Temper, _ = strings.Cut(m.Key, "-")
		l, err := offline.New(of)
		if err != nil {
			return spec, p, Usagef("--model %s: %w", m.Key, err)
		}
		specs[i] = o.Asked(l.Spec())
		specs[i].Price = m.Price
		models = append(models, evolve.Proposer{Name: m.Key, LLM: l})
	}
	return o.of(specs, models)
}

// of returns who proposes with these models, and what calls are charged as that do not name theirs.
func (o *Options) of(specs []llm.Model, models []evolve.Proposer) (spec llm.Model, p Proposing, err error) {
	_, weights, err := weighted(o.Model)
	if err != nil {
		return spec, p, err
	}
	p, err = o.proposing(models, weights)
	return together(specs), p, err
}

// weighted returns the keys of --model and the share of each; without weights it has no shares.
func weighted(models string) (keys []string, shares []float64, err error) {
	for word := range strings.SplitSeq(models, ",") {
		key, weight, has := strings.Cut(word, "=")
		keys = append(keys, strings.TrimSpace(key))
		if !has {
			continue
		}
		w, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if err != nil || !(w > 0) || math.IsInf(w, 1) {
			return nil, nil, Usagef("--model %q: the weight %q of %s is not a number above 0", models, weight, key)
		}
		shares = append(shares, w)
	}
	switch {
	case len(shares) == 0:
		return keys, nil, nil
	case len(shares) != len(keys):
		return nil, nil, Usagef("--model %q: %d of %d models have a weight: give each one, or none", models, len(shares),
			len(keys))
	case len(keys) == 1:
		return nil, nil, Usagef("--model %q: a weight says how often one of several models is asked: name another one",
			models)
	}
	return keys, shares, nil
}

// Client returns the configuration of a model's client at the URL base.
func (o *Options) Client(m llm.Model, base string) openai.Config {
	extra := map[string]any(maps.Clone(o.Extra))
	if o.Effort != "" {
		if extra == nil {
			extra = map[string]any{}
		}
		extra["reasoning_effort"] = o.Effort
	}
	cfg := openai.Config{BaseURL: base, Model: m, Stream: o.Stalls, Whole: !o.Stream, Extra: extra,
		Seed: o.Strict || o.paper || o.given["seed"], Omit: o.omit, Notice: Notice}
	for _, h := range o.headers {
		cfg.Options = append(cfg.Options, openai.Header(h[0], h[1]))
	}
	return cfg
}

// specs returns the models that the flags name.
func (o *Options) specs() (specs []llm.Model, err error) {
	keys, _, err := weighted(o.Model)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(keys))
	if o.ModelName != "" {
		if names = strings.Split(o.ModelName, ","); len(names) != len(keys) {
			return nil, Usagef("--model-name has %d names and --model %d keys: need a name for each", len(names), len(keys))
		}
	}
	params := o.ActiveParams
	switch len(params) {
	case 0:
		params = make(counts, len(keys))
	case len(keys):
	default:
		return nil, Usagef("--params-active has %d numbers and --model %d keys: need a number for each",
			len(params), len(keys))
	}
	for i, key := range keys {
		m := llm.Model{Key: key, Name: strings.TrimSpace(names[i]), ActiveParams: params[i],
			Temperature: o.Temperature, TopP: o.TopP, MaxTokens: o.MaxTokens, Timeout: o.Timeout}
		if o.Strict || o.paper {
			m = llm.PaperSampling(m)
		}
		if m.Price, err = o.Price(m.Key); err != nil {
			return nil, err
		}
		if err := complete(&m); err != nil {
			return nil, err
		}
		switch {
		case o.asksOffline() && !o.Offline():
			return nil, Usagef("--model %q: stand-ins need no endpoint, so name them without others", o.Model)
		case slices.ContainsFunc(specs, func(s llm.Model) bool { return s.Key == m.Key }):
			return nil, Usagef("--model %q: %s stands there twice; replicas of a model are several URLs of --api-base",
				o.Model, m.Key)
		}
		specs = append(specs, m)
	}
	return specs, nil
}

// Each returns the flags of each of the models of --model alone, for a command that makes runs of every one. The
// offline model has no part in lists of names, numbers and URLs.
func (o *Options) Each() (all []*Options, err error) {
	keys, shares, err := weighted(o.Model)
	switch {
	case err != nil:
		return nil, err
	case shares != nil:
		return nil, Usagef("--model %q: a weight has no effect, as each run asks one model", o.Model)
	}
	real := *o
	real.Model = strings.Join(slices.DeleteFunc(slices.Clone(keys), isOffline), ",")
	var specs []llm.Model
	if real.Model != "" {
		if specs, err = real.specs(); err != nil {
			return nil, err
		}
	}
	if err := o.checkPrices(keys); err != nil {
		return nil, err
	}
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			return nil, Usagef("--model %q: %s stands there twice", o.Model, key)
		}
		one := *o
		one.Model, one.ModelName, one.ActiveParams = key, "", nil
		if k := slices.IndexFunc(specs, func(m llm.Model) bool { return m.Key == key }); k >= 0 {
			one.ModelName, one.ActiveParams = specs[k].Name, counts{specs[k].ActiveParams}
			if one.APIBase, err = real.bases(key, specs); err != nil {
				return nil, err
			}
		}
		all = append(all, &one)
	}
	return all, nil
}

// complete fills in the known fields of the model with m's key.
func complete(m *llm.Model) error {
	for _, known := range llm.Models() {
		if known.Key == m.Key {
			m.Name, m.ActiveParams = cmp.Or(m.Name, known.Name), cmp.Or(m.ActiveParams, known.ActiveParams)
		}
	}
	switch {
	case m.Key == "":
		return Usagef("--model has an empty key: need one before each comma and after the last")
	case isOffline(m.Key):
		return nil
	case m.Name == "" || m.ActiveParams <= 0:
		return Usagef("unknown model %q: it is one of %s; for another one give --model-name and --params-active",
			m.Key, strings.Join(modelKeys(), ", "))
	}
	return nil
}

// together returns the name for a run of several models, and the charge of attempts that do not name their model.
func together(specs []llm.Model) llm.Model {
	all := specs[0]
	for _, m := range specs[1:] {
		all.Key += "+" + m.Key
		all.Name += "+" + m.Name
		all.ActiveParams = max(all.ActiveParams, m.ActiveParams)
	}
	return all
}

// bases returns the URLs of the model with the key, from --api-base or the environment: its own, or else those without
// a key.
func (o *Options) bases(key string, specs []llm.Model) (string, error) {
	list := cmp.Or(o.APIBase, os.Getenv(openai.EnvBase))
	if len(specs) == 1 || list == "" {
		return o.APIBase, nil
	}
	var own, shared []string
	for base := range strings.SplitSeq(list, ",") {
		of, url, keyed := strings.Cut(strings.TrimSpace(base), "=")
		switch {
		case !keyed || strings.Contains(of, "://"): // an = within a URL
			shared = append(shared, base)
		case of == key:
			own = append(own, url)
		case !slices.ContainsFunc(specs, func(m llm.Model) bool { return m.Key == of }):
			return "", Usagef("--api-base %q: %q is none of the models of --model %s", shownURLs(strings.Split(list, ",")), of,
				o.Model)
		}
	}
	if len(own) == 0 {
		own = shared
	}
	if len(own) == 0 {
		return "", Usagef("--api-base has no URL for the model %s: need %s=URL, or a URL without a key for all models",
			key, key)
	}
	return strings.Join(own, ","), nil
}

// printModels prints the yield of each of several models, by the ledgers of the result.
func printModels(of result.Totals) {
	models := of[history.ByModel]
	if len(models) < 2 {
		return
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(models)) {
		l := models[name]
		rows = append(rows,
			[]string{name, fmt.Sprint(l.Calls), fmt.Sprint(l.Valid), fmt.Sprint(l.Improved), fmt.Sprintf("%.4g", l.FLOPs)})
	}
	Table([]string{"model", "calls", "valid", "better", "FLOPs"}, rows)
	Printf("\n")
}

// fields are a flag of a JSON object.
type fields map[string]any

func (f *fields) Set(text string) error {
	*f = nil
	if err := json.Unmarshal([]byte(text), f); err != nil || *f == nil {
		return fmt.Errorf("need a JSON object, such as {\"top_k\": 40}")
	}
	return nil
}

func (f *fields) String() string {
	if len(*f) == 0 {
		return ""
	}
	text, _ := json.Marshal(*f) // it was read from JSON
	return string(text)
}

// headers is a flag that is given once for each header: "Name: value". It prints their names alone.
type headers [][2]string

func (h *headers) Set(text string) error {
	name, value, ok := strings.Cut(text, ":")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t\"(),/;=?@[]{}") {
		return fmt.Errorf("need 'Name: value'")
	}
	*h = append(*h, [2]string{name, os.ExpandEnv(strings.TrimSpace(value))})
	return nil
}

func (h *headers) String() string {
	var names []string
	for _, header := range *h {
		names = append(names, header[0])
	}
	return strings.Join(names, ",")
}

// words is a flag of words, separated by commas, that may be given again for more.
type words []string

func (w *words) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		*w = append(*w, strings.TrimSpace(word))
	}
	return nil
}

func (w *words) String() string { return strings.Join(*w, ",") }

// counts is a flag of whole numbers above 0, separated by commas.
type counts []int64

func (c *counts) Set(text string) error {
	*c = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(n >= 1 && n < 1<<53) || n != math.Trunc(n) {
			return fmt.Errorf("%q is not a whole number above 0", word)
		}
		*c = append(*c, int64(n))
	}
	return nil
}

func (c *counts) String() string {
	var words []string
	for _, n := range *c {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ",")
}

package cli

import (
	"flag"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// A Budget holds the flags that limit a run besides its T·N calls. 0 means no limit.
type Budget struct {
	usd, flops float64
	tokens     int64
	wall       time.Duration
	target     string
}

func (b *Budget) register(fs *flag.FlagSet) {
	fs.Float64Var(&b.usd, "budget-usd", 0,
		"end the run before it costs more `money`, by --price\n"+
			"It is held against the most that each call may cost.")
	fs.Int64Var(&b.tokens, "budget-tokens", 0,
		"end the run before it takes more tokens, of prompts and answers together")
	fs.Float64Var(&b.flops, "budget-flops", 0,
		"end the run before it takes more FLOPs, such as 1e18, counted in the worst case")
	fs.DurationVar(&b.wall, "budget-time", 0,
		"end the run after this `time`, such as 90m\n"+
			"The time counts over all processes that went on with the run.")
	fs.StringVar(&b.target, "target", "", "end the run as soon as a program has this `score`")
}

// limits returns the limits for calls to the models.
func (b *Budget) limits(models []llm.Model) (limits evolve.Budget, err error) {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"budget-usd", b.usd}, {"budget-tokens", float64(b.tokens)}, {"budget-flops", b.flops},
		{"budget-time", b.wall.Seconds()},
	} {
		if !(f.value >= 0) || math.IsInf(f.value, 0) {
			return limits, Usagef("--%s is %v: need 0 for no limit, or more", f.name, f.value)
		}
	}
	unpriced := slices.IndexFunc(models, func(m llm.Model) bool { return m.Price == nil })
	if b.usd > 0 && unpriced >= 0 {
		return limits, Usagef("--budget-usd: what does %s cost? Say it with --price, such as --price 0.2,0.05,0.8",
			models[unpriced].Key)
	}
	limits = evolve.Budget{Money: b.usd, Tokens: b.tokens, FLOPs: b.flops, WallTime: b.wall, Models: models}
	if b.target != "" {
		score, err := strconv.ParseFloat(b.target, 64)
		if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
			return limits, Usagef("--target is %q: need a score", b.target)
		}
		limits.Target = &score
	}
	return limits, nil
}

// Models returns the models that a run may ask, with their prices. spec stands for all of them, and the offline model's
// own. A price for another model is a [UsageError].
func (o *Options) Models(spec llm.Model) ([]llm.Model, error) {
	models := []llm.Model{spec}
	if !o.Offline() {
		var err error
		if models, err = o.specs(); err != nil {
			return nil, err
		}
	}
	var keys []string
	for _, m := range models {
		keys = append(keys, m.Key)
	}
	return models, o.checkPrices(keys)
}

// checkPrices refuses a price of a model that is not asked.
func (o *Options) checkPrices(keys []string) error {
	for one := range strings.FieldsSeq(o.prices) {
		if key, _, keyed := strings.Cut(one, "="); keyed && !slices.Contains(keys, key) {
			return Usagef("--price %s: the run asks no model %q, but %s", one, key, strings.Join(keys, ", "))
		}
	}
	return nil
}

// Budget returns the limits of a run that may ask these models.
func (o *Options) Budget(models []llm.Model) (evolve.Budget, error) {
	b, err := o.budget.limits(models)
	b.Calls, b.Stalls = o.T*o.N, o.MaxStalls
	return b, err
}

// raising are the flags of limits that, if raised, resume a run that they ended.
var raising = []string{"budget-usd", "budget-tokens", "budget-flops", "budget-time", "max-stalls"}

// LimitGiven returns an error if the journal's run was ended by a limit whose flag is missing now: without the limit
// the run would continue and cost more.
func (o *Options) LimitGiven(j *journal.Journal) error {
	if j == nil || !j.Finished() {
		return nil
	}
	run, err := history.Read(j.Path())
	if err != nil || run.Stop != string(evolve.StopBudget) {
		return err
	}
	if flag := raises(run.Limit); flag != "" && !o.given[flag] {
		return Usagef("--%s ended this run: give it again as it was to see the result, larger to go on, or 0 for no limit",
			flag)
	}
	return nil
}

// raises returns the flag of the limit that ended a run, if raising it resumes the run, and "" otherwise. limit is a
// field of [evolve.Budget].
func raises(limit string) string {
	return map[string]string{
		"Money": "budget-usd", "Tokens": "budget-tokens", "FLOPs": "budget-flops", "WallTime": "budget-time",
	}[limit]
}

// Price returns the price of the model with the key from --price, or nil.
func (o *Options) Price(key string) (*llm.Price, error) {
	var found *llm.Price
	for one := range strings.FieldsSeq(o.prices) {
		of, numbers, keyed := strings.Cut(one, "=")
		if !keyed {
			of, numbers = key, one
		}
		price, ok := parsePrice(numbers)
		if !ok {
			return nil, Usagef("--price is %q: need three numbers from 0, such as 0.2,0.05,0.8;"+
				" or KEY=0.2,0.05,0.8 for each of several models, separated by blanks", o.prices)
		}
		if of == key {
			found = price
		}
	}
	return found, nil
}

func parsePrice(text string) (*llm.Price, bool) {
	words := strings.Split(text, ",")
	if len(words) != 3 {
		return nil, false
	}
	var price [3]float64
	for i, w := range words {
		v, err := strconv.ParseFloat(strings.TrimSpace(w), 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return nil, false
		}
		price[i] = v
	}
	return &llm.Price{Prompt: price[0], Cached: price[1], Completion: price[2]}, true
}

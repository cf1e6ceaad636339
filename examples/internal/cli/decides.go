package cli

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Names in a fingerprint.
const (
	ties     = "ties"           // what a search does at a tie
	settings = "model settings" // see [Options.Settings]
)

// Settings says what the requests of models hold beside their sampling, what they are charged by, and of several models
// the share of each.
func (o *Options) Settings(models []llm.Model) string {
	var list []string
	for _, m := range models {
		price := "no price"
		if p := m.Price; p != nil {
			price = fmt.Sprintf("price %g,%g,%g", p.Prompt, p.Cached, p.Completion)
		}
		list = append(list, fmt.Sprintf("%s: %d active parameters, %s", m.Key, m.ActiveParams, price))
	}
	if extra := fields(o.Client(llm.Model{}, "").Extra); len(extra) > 0 {
		list = append(list, "fields of requests "+extra.String())
	}
	if _, shares, err := weighted(o.Model); err == nil && shares != nil {
		list = append(list, fmt.Sprintf("shares %g", shares))
	}
	return strings.Join(list, "; ")
}

// DecidedBy adds to fp the models that a run asks, of which spec stands for all.
func (o *Options) DecidedBy(fp journal.Fingerprint, spec llm.Model, asked []llm.Model) {
	fp["model"], fp[settings] = spec.String(), o.Settings(asked)
	if own := o.asked(); own != "" {
		fp["asked for"] = own
	}
}

// fingerprint is what decides a run of t.
func (o *Options) fingerprint(t task.Task, decides journal.Fingerprint) journal.Fingerprint {
	fp := journal.Fingerprint{
		"runtime":                o.Runtime,
		"task":                   fmt.Sprintf("%s, programs and prompt %s", t.Name(), task.Digest(t)),
		"limit of an evaluation": o.EvalTimeout.String(),
		"T":                      fmt.Sprint(o.T),
		"N":                      fmt.Sprint(o.N),
	}
	if f, ok := task.As[interface{ Fingerprint() string }](t); ok { // of what scores its programs
		fp["evaluator"] = f.Fingerprint()
	}
	if o.IsTree() {
		fp["evaluator"] = fmt.Sprintf("test %q, score %q", o.Tree.test, o.Tree.score)
		if len(o.Show) > 0 { // of other tasks the bounds are in what scores their programs
			fp["shown"] = o.Show.String()
		}
	}
	if text := o.letIn.String(); text != "" {
		fp["let in"] = text
	}
	if b := o.Children(); b != nil {
		fp["breadth"] = fmt.Sprint(b)
	}
	if !o.Strict { // older journals, without the word, are of strict runs
		fp[ties] = "taken"
	}
	maps.Copy(fp, decides)
	return fp
}

// fitted returns now as a journal is compared with it that began with then: one from before the settings of models, or
// how searches have their seeds, were recorded goes on as it was begun, and one of a smaller T with a larger one, which
// its limit on calls then has to allow.
func fitted(then, now journal.Fingerprint) journal.Fingerprint {
	if then == nil {
		return now
	}
	now = maps.Clone(now)
	for _, name := range []string{settings, ArmSeeds} {
		if _, has := then[name]; !has {
			delete(now, name)
		}
	}
	was, _ := strconv.Atoi(then["T"])
	if is, _ := strconv.Atoi(now["T"]); 0 < was && was < is {
		now["T"] = then["T"]
	}
	return now
}

// differences says in which fields the run of a journal that began with then is another than now; "" if it is the same.
func differences(then, now journal.Fingerprint) string {
	now = fitted(then, now)
	both := maps.Clone(now)
	maps.Copy(both, then)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if then[name] != now[name] {
			list = append(list, fmt.Sprintf("its %s is %q, this run's %q", name, then[name], now[name]))
		}
	}
	return strings.Join(list, "; ")
}

// hashOf returns a hash of what decides a run.
func hashOf(decides journal.Fingerprint) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(decides)) {
		fmt.Fprintf(h, "%q %q\n", name, decides[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

package evolve

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// fingerprint returns what the run is given that decides it, as far as that can be printed. A func such as
// Reward cannot, but the rewards that it returns are compared in replay. Grace and Observer decide nothing and
// may differ when a run goes on.
func (c Config) fingerprint() journal.Fingerprint {
	f := c.Budget.fingerprint()
	f["policy"], f["seed"] = nameOf(c.Policy), fmt.Sprint(c.Seed)
	f["arms"], f["in_flight"] = fmt.Sprint(len(c.Arms)), fmt.Sprint(c.InFlight)
	if b := breadths(c.Arms); b != "" { // not without one, so that older journals still fit
		f["breadth"] = b
	}
	if slices.ContainsFunc(c.Arms, takesTies) { // older journals, without the word, are of strict searches
		f["ties"] = "taken"
	}
	if p := proposersOf(c.Arms); p != "" { // not of one, so that older journals still fit
		f["proposers"] = p
	}
	if c.Audit != nil {
		f["audit"] = fmt.Sprintf("%v, demote %v", second{c.Audit.By}, c.Audit.Demote)
	}
	return f
}

// breadths returns the breadth of the arms, "" for none, and where they differ that of each in a list: arms that
// exchange theirs are another run. Of an arm without a method Breadth, nothing is known, and the calls that each draw
// was granted are compared in replay.
func breadths(arms []Arm) string {
	names := make([]string, len(arms))
	for i, arm := range arms {
		if a, ok := arm.(interface{ Breadth() Breadth }); ok && a.Breadth() != nil {
			names[i] = nameOf(a.Breadth())
		}
	}
	if len(slices.Compact(slices.Clone(names))) == 1 {
		return names[0]
	}
	return "[" + strings.Join(names, "; ") + "]"
}

// proposersOf returns the proposers of the arms that say so, each list once.
func proposersOf(arms []Arm) string {
	var lists []string
	for _, arm := range arms {
		if a, ok := arm.(interface{ proposers() string }); ok && a.proposers() != "" {
			lists = append(lists, a.proposers())
		}
	}
	slices.Sort(lists)
	return strings.Join(slices.Compact(lists), "; ")
}

// takesTies reports whether arm, or the one that it wraps, is a greedy search that is not Strict. An arm that
// embeds one may take in other children, so of is not the arm, and nothing is known.
func takesTies(arm Arm) bool {
	for arm != nil {
		if a, ok := arm.(interface{ takesTies() (of Arm, ties bool) }); ok {
			if of, ties := a.takesTies(); of == arm {
				return ties
			}
		}
		a, ok := arm.(interface{ Unwrap() Arm })
		if !ok {
			return false
		}
		arm = a.Unwrap()
	}
	return false
}

// nameOf returns what the String method of a policy or an arm does, or else its type. Without that method its fields
// would be printed, among them pointers, which differ from process to process, so no run with it could be resumed.
func nameOf(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", v)
}

// raises reports whether now differs from then in one field alone: the limit of the given name, which can be
// raised and is larger. With more calls more of them may stall.
func raises(limit string, then, now journal.Fingerprint) bool {
	if !(Budget{}).limit(limit, books.Amounts{}).raisable {
		return false
	}
	name := "Budget." + limit
	but := maps.Clone(now)
	but[name] = then[name]
	if stalls := "Budget.Stalls"; limit == "Calls" && limitOf(now[stalls]) >= limitOf(then[stalls]) {
		but[stalls] = then[stalls] // its default is a part of the calls
	}
	return maps.Equal(then, but) && limitOf(now[name]) > limitOf(then[name])
}

// limitOf returns the number of a limit in a fingerprint, in seconds if it is a time. For other text it returns
// NaN: it compares as false with everything, so such a limit is never taken for a larger one.
func limitOf(text string) float64 {
	if text == noLimit {
		return math.Inf(1)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return math.NaN()
}

// ranBy returns what a journal says of the run beside what is compared: its models and arms, and the limits.
func (c Config) ranBy() (models []record.Model, arms []record.Arm, l *books.Ledger) {
	for _, m := range c.Budget.Models {
		m = m.WithDefaults()
		models = append(models, record.Model{Key: m.Key, Name: m.Name, ActiveParams: m.ActiveParams,
			Price: (*record.Price)(m.Price)})
	}
	for _, a := range c.Arms {
		arm := record.Arm{Name: nameOf(a)}
		if s, ok := a.(interface{ Seed() uint32 }); ok {
			seed := s.Seed()
			arm.Seed = &seed
		}
		arms = append(arms, arm)
	}
	return models, arms, &books.Ledger{Limit: c.Budget.shown()}
}

package journal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Fingerprint is everything that decides a run, by name: task, prompts, model and sampling, seeds, T, N,
// K. evolve.Run adds what it knows itself in a record of its own: the policy as its String method describes it,
// the number of arms, the seed of the draws, how many are in flight, the budget.
//
// It is a map of text and not one hash, so that an error can name the field that differs.
//
// Only what prints differently can be told apart. Two funcs print alike, and so do two values of a policy's
// type without a method String. If an evaluator is a func (eval.Func), the scores of its old version would be
// taken for those of its new one. Give it a name or a version here, and change that with it.
type Fingerprint map[string]string

// compare returns an error that says in which fields now differs from f. record is the number of the record that
// holds f.
func (f Fingerprint) compare(record int, now Fingerprint) error {
	both := maps.Clone(f)
	maps.Copy(both, now)
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if f[name] != now[name] {
			fields = append(fields, fmt.Sprintf("%s is %q, this run's %q", name, f[name], now[name]))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fmt.Errorf("%w: record %d: %s: put that back, or begin anew with another journal", ErrDiverged, record, strings.Join(fields, "; "))
}

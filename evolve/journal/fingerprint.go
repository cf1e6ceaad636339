package journal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Fingerprint is everything that decides a run, by name: task, prompts, model and sampling, seeds, T, N,
// K. What evolve.Run knows itself (the policy as it prints itself, the number of arms, the seed of the
// draws, how many are in flight, the budget) it adds in a record of its own.
//
// Only what prints differently can be told apart. Two funcs print alike, and so do two values of a policy's
// type without a method String. Where an evaluator is a func (eval.Func), the scores of its old version
// would be taken for those of its new one: give it a name or a version here, and change that with it.
type Fingerprint map[string]string

// compare reports in which fields now differs from f, which the record of that number holds.
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

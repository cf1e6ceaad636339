package evolve_test

import (
	"errors"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
)

// A run is another one if a parameter of its policy differs, however deep. Otherwise it is the same one, also in
// another process, where addresses differ, and after the policy was used.
func TestFingerprintOfAPolicy(t *testing.T) {
	wrap := func(p bandit.Policy) bandit.Policy {
		return bandit.Mix([]float64{1, 3}, bandit.WithFloor(bandit.Normalize(p, 0, 1), 0.1),
			bandit.Discounted(&bandit.UCB1{}, 0.9))
	}
	used := &bandit.UCB1{C: 1}
	mustRun(t, evolve.Config{Arms: arms(t, 2, 2), Policy: used, Budget: evolve.Budget{Rounds: 5}})
	forgetful := func(c, lo, gamma float64) bandit.Policy {
		return bandit.Discounted(bandit.WithFloor(bandit.Normalize(&bandit.UCB1{C: c}, lo, 1), 0.1), gamma)
	}
	for _, tt := range []struct {
		reason    string
		then, now bandit.Policy
		same      bool
	}{
		{"the same again", wrap(&bandit.UCB1{C: 1}), wrap(&bandit.UCB1{C: 1}), true},
		{"the default, said", wrap(&bandit.Softmax{}), wrap(&bandit.Softmax{Tau: 0.1}), true},
		{"used before", wrap(&bandit.UCB1{C: 1}), wrap(used), true},
		{"one that does not print itself", wrap(&plain{new(int)}), wrap(&plain{new(int)}), true},
		{"one that does not print itself, of another type", wrap(&plain{new(int)}), wrap(noisy{}), false},
		{"another constant", wrap(&bandit.UCB1{C: 1}), wrap(&bandit.UCB1{C: 2}), false},
		{"all that forget", forgetful(1, 0, 0.9), forgetful(1, 0, 0.9), true},
		{"another constant under a Discounted", forgetful(1, 0, 0.9), forgetful(2, 0, 0.9), false},
		{"another scale", forgetful(1, 0, 0.9), forgetful(1, -1, 0.9), false},
		{"another discount", forgetful(1, 0, 0.9), forgetful(1, 0, 0.8), false},
		{"another weight", bandit.Mix([]float64{1, 1}, used, noisy{}), bandit.Mix([]float64{1, 2}, used, noisy{}), false},
		{"another floor", bandit.WithFloor(used, 0.1), bandit.WithFloor(used, 0.2), false},
	} {
		path := journalPath(t)
		var err error
		for _, p := range []bandit.Policy{tt.then, tt.now} {
			j := openJournal(t, path)
			// No draw is made, which a used policy would make otherwise: what the run is given decides.
			target := -1.0
			_, err = evolve.Run(t.Context(), evolve.Config{Arms: arms(t, 2, 2), Policy: p,
				Budget: evolve.Budget{Target: &target}, Journal: j})
			j.Close()
		}
		if tt.same && err != nil || !tt.same && !errors.Is(err, journal.ErrDiverged) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

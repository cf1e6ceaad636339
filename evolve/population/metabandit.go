package population

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
)

// A MetaBandit is a [Meta] with a bandit over a few settings, of which it pulls one a generation:
//
//	Meta: &MetaBandit{Settings: []Settings{{}, {Explore: 0.3}, {Weights: []float64{1, 4}}}}
//
// Begin the list with the zero value, so that the search as it is configured is an arm too. What a bad arm costs is paid
// for, so keep the list short: with k arms the first k generations at least are trials.
type MetaBandit struct {
	Settings []Settings // the arms; required
	// Policy draws them; nil means [bandit.GaussianThompson] with a sigma of 0.03 and a prior mean of 1, the most that
	// Reward is by default, worth a tenth of an outcome, so that each arm is tried; [bandit.Discounted] by 0.98, so that
	// about the last 50 generations count: rewards fall as a search gets on, and an arm that was left is tried again.
	Policy bandit.Policy
	// Reward says what a generation was worth, a finite number; nil means by how much its children have raised the best,
	// for each call, in standard deviations of a lift ([Trial].SD):
	//
	//	(1/calls)·Σ min(1, max(0, score − best)/SD)
	//
	// One that is always 0 is the placebo: nothing is ever learned, and what a Meta gains, it gains over that.
	Reward func(Trial) float64

	player  *bandit.Player
	pull    bandit.Pull
	pending bool
}

var _ Meta = (*MetaBandit)(nil)

func (m *MetaBandit) check(c Config) error {
	if len(m.Settings) == 0 {
		return errors.New("population: MetaBandit.Settings is empty: need at least one")
	}
	seen := map[string]bool{}
	for i, s := range m.Settings {
		if err := s.check(c); err != nil {
			return fmt.Errorf("%w (MetaBandit.Settings[%d])", err, i)
		}
		if name := s.label(); seen[name] { // ledgers could not tell them apart
			return fmt.Errorf("population: two of MetaBandit.Settings are named %q: give each a Name of its own", name)
		} else {
			seen[name] = true
		}
	}
	return nil
}

// Next draws an arm.
func (m *MetaBandit) Next(r *rand.Rand) Settings {
	if m.player == nil {
		m.player = bandit.NewPlayer(m.policy(), len(m.Settings), r.Uint64())
	}
	if m.pending {
		_ = m.player.Cancel(m.pull.ID) // cannot fail: the pull is pending
	}
	var err error
	if m.pull, err = m.player.Draw(allOf(len(m.Settings))); err != nil {
		panic(err) // the policy's probabilities are wrong, and the search names the Meta
	}
	m.pending = true
	return m.Settings[m.pull.Arm]
}

// policy returns Policy or the default, of which each MetaBandit has its own.
func (m *MetaBandit) policy() bandit.Policy {
	if m.Policy == nil {
		m.Policy = defaultMetaPolicy()
	}
	return m.Policy
}

func defaultMetaPolicy() bandit.Policy {
	return bandit.Discounted(&bandit.GaussianThompson{Sigma: 0.03, PriorMean: 1, PriorStrength: 0.1}, 0.98)
}

// Learn tells the policy what the arm was worth.
func (m *MetaBandit) Learn(t Trial) error {
	r, err := reward(m.Reward, t)
	if err != nil {
		return err
	}
	m.pending = false
	return m.player.Report(m.pull.ID, r)
}

// String names the policy and the arms.
func (m *MetaBandit) String() string {
	arms := make([]string, len(m.Settings))
	for i, s := range m.Settings {
		arms[i] = s.print()
	}
	policy := m.Policy
	if policy == nil {
		policy = defaultMetaPolicy()
	}
	return fmt.Sprintf("MetaBandit(%s over %s)", nameOf(policy), strings.Join(arms, ", "))
}

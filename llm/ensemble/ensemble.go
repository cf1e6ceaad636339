// Package ensemble lets a bandit choose between different models.
//
// For each call a [bandit.Policy] gives every model a chance, one is drawn and asked, and the reward
// comes back when the search has scored the child:
//
//	model, err := ensemble.New(ensemble.Config{
//		Members: []ensemble.Member{{Model: small, LLM: a}, {Model: large, LLM: b}},
//		Policy:  bandit.WithFloor(&bandit.GaussianThompson{Sigma: 0.4}, 0.05),
//		Seed:    7,
//	})
//
// # What is recorded
//
// Each attempt names its model by key and active parameters, so that it is charged at its own model's
// size, and the first attempt of each draw has the chance with which the model was drawn. That is all
// that learning needs, and all of it is in the child's record: see [llm.Learner].
//
// # What a choice depends on
//
// A choice depends on the seed, the request, how often the same request came before, and the outcomes learned
// before. It does not depend on the order in which the calls of a generation come, because policies are not
// shown the pending pulls unless Config.ShowPending is set. A policy that gives one arm all the chance, as
// UCB1 does, then sends all calls between two outcomes to one model; Thompson sampling and EXP3 spread them.
//
// A run that goes on from a journal is given the journaled replies without the ensemble being asked,
// learns their outcomes again, and then chooses as it would have.
package ensemble

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/llm"
)

// A Member is one model of an ensemble.
type Member struct {
	// Model says which it is. Its Key is required, and no two are alike: it is what attempts carry
	// and what outcomes are learned by. ActiveParams is what they are charged at; 0 leaves what
	// LLM says.
	Model llm.Model
	LLM   llm.LLM // what is asked; required
}

// A Config says what an [Ensemble] chooses from, and how.
type Config struct {
	Members []Member // at least one; a policy's arms, in this order
	// Policy gives each member a chance at each call. Required, and not to be shared: the
	// ensemble owns it.
	Policy bandit.Policy
	Seed   uint64 // of the draws; 0 is a seed like any other
	// Reward is what a member earned with a reply, and whether it counts. Of a reply that took
	// several draws it is asked for each, see [Ensemble.Learn]. nil means [Improved].
	Reward func(llm.Outcome) (reward float64, counts bool)
	// ShowPending shows the policy the pending pulls, and the number of draws as they come, so that a
	// policy that gives one arm all the chance spreads the calls of a generation too. Which model a
	// call gets then depends on their order.
	ShowPending bool
}

func (c Config) validate() error {
	switch {
	case len(c.Members) == 0:
		return errors.New("ensemble: Config.Members is empty: need at least one")
	case c.Policy == nil:
		return errors.New("ensemble: Config.Policy is nil")
	}
	for i, m := range c.Members {
		same := func(o Member) bool { return o.Model.Key == m.Model.Key }
		switch _, nested := llm.As[llm.Learner](m.LLM); {
		case m.LLM == nil:
			return fmt.Errorf("ensemble: Config.Members[%d] (%q) has no LLM", i, m.Model.Key)
		case m.Model.Key == "":
			return fmt.Errorf("ensemble: Config.Members[%d] has no Model.Key", i)
		case slices.ContainsFunc(c.Members[:i], same):
			return fmt.Errorf("ensemble: Config.Members[%d] is the second with the key %q", i, m.Model.Key)
		case nested:
			return fmt.Errorf("ensemble: %q is an ensemble itself: put its members among this one's", m.Model.Key)
		}
	}
	return nil
}

// Improved is the default reward: 1 if the child scored more than its parent, else 0. A reply that
// was no program, or stalled or timed out, earns 0; one that failed in another way, or was given up,
// does not count: the model had no part in that.
func Improved(o llm.Outcome) (reward float64, counts bool) {
	if o.Valid {
		if o.Score > o.Parent {
			return 1, true
		}
		return 0, true
	}
	if len(o.Attempts) == 0 {
		return 0, false
	}
	class := o.Attempts[len(o.Attempts)-1].Status.Class()
	return 0, class == llm.Real || class == llm.Stall
}

// An Ensemble is an LLM that lets a policy choose between several. An error of the model that was
// chosen is the ensemble's error, even if it is [llm.Unavailable] and the other models answer: the run was
// meant to use that model too. It is safe for concurrent use.
type Ensemble struct {
	cfg    Config
	policy bandit.Policy // what the player is given: cfg.Policy, or that blind to pending pulls
	open   []bool

	mu       sync.Mutex
	player   *bandit.Player
	asked    map[uint64]uint64 // how often a request came, by its digest
	inFlight map[draw][]int    // the pulls whose outcome is not known, oldest first
	stats    []stats           // by member
	unknown  int
}

// A draw is what is known of a pull from its attempts. Pending pulls that are alike in both are
// interchangeable to a policy.
type draw struct {
	arm  int
	prob float64
}

var (
	_ llm.LLM     = (*Ensemble)(nil)
	_ llm.Learner = (*Ensemble)(nil)
)

// New checks cfg and returns its ensemble.
func New(cfg Config) (*Ensemble, error) {
	if cfg.Reward == nil {
		cfg.Reward = Improved
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.Members = slices.Clone(cfg.Members)
	e := &Ensemble{
		cfg: cfg, policy: cfg.Policy,
		open:     slices.Repeat([]bool{true}, len(cfg.Members)),
		asked:    make(map[uint64]uint64),
		inFlight: make(map[draw][]int),
		stats:    make([]stats, len(cfg.Members)),
	}
	if !cfg.ShowPending {
		e.policy = &blind{Policy: cfg.Policy, none: make([]int, len(cfg.Members))}
	}
	e.player = bandit.NewPlayer(e.policy, len(cfg.Members), cfg.Seed)
	return e, nil
}

// Generate draws a member and asks it.
func (e *Ensemble) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, fmt.Errorf("ensemble: not sent: %w", err)
	}
	pull, err := e.draw(req)
	if err != nil {
		return llm.Reply{}, err
	}
	pending := true
	defer func() {
		if pending { // nothing was sent, or the member panicked: there is nothing to learn from
			e.cancel(pull)
		}
	}()
	member := e.cfg.Members[pull.Arm]
	reply, err := llm.Send(member.signing(ctx, pull.Prob), member.LLM, req)
	reply.Attempts = member.sign(reply.Attempts, pull.Prob)
	if len(reply.Attempts) > 0 {
		pending = false
		e.made(pull, reply.Attempts)
	}
	return reply, err
}

// Announces returns true, see [llm.Announces].
func (e *Ensemble) Announces() bool { return true }

// draw chooses the member for req, by a stream that follows from the request.
func (e *Ensemble) draw(req llm.Request) (bandit.Pull, error) {
	digest := llm.Digest(req)
	address := binary.BigEndian.Uint64(digest[:])
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.asked[address]
	pull, err := e.player.DrawAt(e.open, address+n*0x9e3779b97f4a7c15)
	if err != nil {
		return pull, fmt.Errorf("ensemble: choosing a model: %w", err)
	}
	e.asked[address]++
	return pull, nil
}

// signing returns ctx for one call, whose Trace is told of signed attempts.
func (m Member) signing(ctx context.Context, prob float64) context.Context {
	t := llm.TraceOf(ctx)
	return llm.WithTrace(ctx, &llm.Trace{Ended: func(attempts []llm.Attempt) {
		t.Ended(m.sign(attempts, prob))
		if len(attempts) > 0 {
			prob = 0 // only the first has it
		}
	}})
}

// sign returns a copy of attempts in which each says which model was asked, and the first how it came
// to be.
func (m Member) sign(attempts []llm.Attempt, prob float64) []llm.Attempt {
	out := slices.Clone(attempts)
	for i := range out {
		out[i].Model = m.Model.Key
		out[i].ActiveParams = cmp.Or(m.Model.ActiveParams, out[i].ActiveParams)
		out[i].Propensity = 0
	}
	if len(out) > 0 {
		out[0].Propensity = prob
	}
	return out
}

// String prints the members and the policy.
func (e *Ensemble) String() string {
	var b strings.Builder
	for _, m := range e.cfg.Members {
		fmt.Fprintf(&b, "%s=%v, ", m.Model.Key, m.LLM)
	}
	return fmt.Sprintf("Ensemble(%s%v, seed %d)", &b, e.policy, e.cfg.Seed)
}

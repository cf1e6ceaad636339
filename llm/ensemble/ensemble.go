// Package ensemble lets a bandit choose between different models.
//
// For each call a [bandit.Policy] gives every model a probability, one is drawn and asked, and the reward arrives when
// the search has scored the child:
//
//	model, err := ensemble.New(ensemble.Config{
//		Members: []ensemble.Member{{Model: small, LLM: a}, {Model: large, LLM: b}},
//		Policy:  bandit.WithFloor(&bandit.GaussianThompson{Sigma: 0.4}, 0.05),
//		Seed:    7,
//	})
//
// # What is recorded
//
// Each attempt names its model by key and active parameters, so that it is charged at that model's size, and the first
// attempt of each draw has the propensity of the model. Learning needs nothing else, and all of it is in the child's
// record: see [llm.Learner].
//
// # What a choice depends on
//
// A choice depends on the seed, the request, the number of earlier equal requests, and the outcomes learned before. It
// does not depend on the order of a generation's calls, because policies do not see pending pulls. A deterministic
// policy such as UCB1 therefore sends all calls between two outcomes to one model; Thompson sampling and EXP3 spread
// them.
//
// A resumed run recalls journaled replies without asking the ensemble, which learns their outcomes again and then
// chooses as it would have.
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
	// Model identifies the member. Its Key is required and unique: attempts carry it, and outcomes are learned by it.
	// Attempts are charged at its ActiveParams; 0 leaves the attempts' own.
	Model llm.Model
	LLM   llm.LLM // required
}

// A Config configures an [Ensemble].
type Config struct {
	Members []Member // at least one; the policy's arms, in this order
	// Policy gives each member a probability at each call. Required. The ensemble owns it, so do not share it.
	Policy bandit.Policy
	Seed   uint64 // of the draws; 0 is a seed like any other
	// Reward returns a member's reward for a reply, and whether the reply counts. It is called for each draw of a reply,
	// see [Ensemble.Learn]. nil means [Improved].
	Reward func(llm.Outcome) (reward float64, counts bool)
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

// Improved is the default reward: 1 if the child scored more than its parent, else 0. A reply without a program, or one
// that stalled or timed out, earns 0. One that failed in another way or was abandoned does not count, since the model
// is not to blame.
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

// An Ensemble is an LLM that lets a policy choose between several. An error of the chosen model is the ensemble's
// error, even if it is [llm.Unavailable] and the other models answer: the run was meant to use that model too. It is
// safe for concurrent use.
type Ensemble struct {
	cfg    Config
	policy bandit.Policy // the player's: a blind one around cfg.Policy
	open   []bool

	mu       sync.Mutex
	player   *bandit.Player
	asked    map[uint64]uint64 // number of equal requests, by digest
	inFlight map[draw][]int    // pending pulls, oldest first
	stats    []stats           // by member
	unknown  int
}

// A draw identifies a pull by its attempts. Pending pulls with equal draws are interchangeable to a policy.
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
		cfg: cfg, policy: &blind{Policy: cfg.Policy, none: make([]int, len(cfg.Members))},
		open:     slices.Repeat([]bool{true}, len(cfg.Members)),
		asked:    make(map[uint64]uint64),
		inFlight: make(map[draw][]int),
		stats:    make([]stats, len(cfg.Members)),
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
		if pending { // nothing was sent, or the member panicked, so nothing can be learned
			e.cancel(pull)
		}
	}()
	member := e.cfg.Members[pull.Arm]
	reply, err := llm.Send(member.signing(ctx, pull.Prob), member.LLM, req)
	reply.Attempts = member.sign(reply.Attempts, pull.Prob)
	if len(reply.Attempts) > 0 {
		pending = false
		e.keep(pull, reply.Attempts)
	}
	return reply, err
}

// Announces returns true, see [llm.Announces].
func (e *Ensemble) Announces() bool { return true }

// draw chooses the member for req, by a random stream addressed by the request.
func (e *Ensemble) draw(req llm.Request) (bandit.Pull, error) {
	digest := req.Digest()
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

// signing returns ctx for one call, whose Trace gets signed attempts.
func (m Member) signing(ctx context.Context, prob float64) context.Context {
	t := llm.TraceOf(ctx)
	return llm.WithTrace(ctx, &llm.Trace{
		Send: func(string) error { return t.Send(m.Model.Key) },
		Ended: func(attempts []llm.Attempt) {
			t.Ended(m.sign(attempts, prob))
			if len(attempts) > 0 {
				prob = 0 // only the first has it
			}
		},
	})
}

// sign returns a copy of attempts with the model in each and the propensity in the first.
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

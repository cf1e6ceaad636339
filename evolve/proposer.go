package evolve

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
)

// A Proposer is a way to ask for a child: a model, with what it is told. The [Breeder]'s Policy draws one for each.
type Proposer struct {
	Name        string  // stands in results; of several, each needs one of its own
	LLM         llm.LLM // nil means the search's
	System      string  // the system message, in place of the task's; "" means the task's
	Instruction string  // what is asked for where the search does not say; "" means task.DefaultInstruction
}

// tell returns messages with the proposer's system message.
func (p Proposer) tell(messages []llm.Message) []llm.Message {
	if p.System == "" {
		return messages
	}
	system := llm.Message{Role: llm.System, Content: p.System}
	if len(messages) > 0 && messages[0].Role == llm.System {
		messages = messages[1:]
	}
	return append([]llm.Message{system}, messages...)
}

// gain is the default credit of a child's proposer: by how much the child is better than its parent, as a part of the
// most that any child of the search was, less 0.5 % for each child since. It is 1 for the first valid program, and 0 where
// a child is not better or its call failed. Of a call that was abandoned nothing can be learned.
func (p *proposing) gain(c Child, parent eval.Candidate) (reward float64, ok bool) {
	p.most *= 0.995
	switch {
	case !c.Scored() || !c.Better(parent):
		return 0, llm.ClassOf(c.Attempts) != llm.Abandoned
	case !parent.Result.Valid:
		return 1, true
	}
	by := c.Result.Score/2 - parent.Result.Score/2 // halves cannot overflow
	if by >= p.most {
		p.most = by
		return 1, true
	}
	return by / p.most, true
}

// proposing is what a Breeder knows of its proposers.
type proposing struct {
	player *bandit.Player
	costs  *allocation.Learner
	heard  int // of the turn's lessons
	drawn  *bandit.Pull
	most   float64 // half of the largest gain; see gain
}

// A lesson is what a run knows of a draw that is over: what it was worth, and what it cost.
type lesson struct {
	arm      int
	proposer string
	prob     float64
	credit   *float64 // nil for nothing
	spent    step.Amounts
}

// spentOn returns what the call of a child cost.
func spentOn(c Child, prices step.Prices) step.Amounts {
	spent, _ := prices.Used(step.Size{}, c.Attempts)
	if c.Answered() { // else what the call used tells nothing of what an answer costs
		spent.Calls = 1
	}
	return spent
}

// validProposers reports what is wrong with the names of proposers.
func validProposers(list []Proposer) error {
	for i, p := range list {
		same := func(o Proposer) bool { return o.Name == p.Name }
		switch {
		case p.Name == "" && len(list) > 1:
			return fmt.Errorf("evolve: Proposers[%d] has no Name", i)
		case slices.ContainsFunc(list[:i], same):
			return fmt.Errorf("evolve: two of Proposers are named %q: give each a name of its own", p.Name)
		}
	}
	return nil
}

// policy returns what draws proposers. Start keeps the default, which is another value each time until then.
func (b *Breeder) policy() bandit.Policy {
	if b.Policy == nil {
		return &bandit.BetaThompson{}
	}
	return b.Policy
}

// proposers names the proposers and the policy, "" where there is nothing to draw. A journal knows a run by it.
func (b *Breeder) proposers() string {
	var names []string
	own := false
	for _, p := range b.Proposers {
		if own = own || p != (Proposer{Name: p.Name}); p.System+p.Instruction != "" {
			p.Name += fmt.Sprintf(" %08x", crc32.ChecksumIEEE([]byte(p.System+"\x00"+p.Instruction)))
		}
		names = append(names, p.Name)
	}
	if len(names) < 2 || !own { // operators alone stand in the search's name
		return ""
	}
	shared := ""
	if b.Shared {
		shared = ", shared"
	}
	return fmt.Sprintf("%s by %s%s", strings.Join(names, ", "), nameOf(b.policy()), shared)
}

// Draw draws the proposer of the child that is being briefed, and returns its index. Only those that are open may be
// drawn; nil means all. A search calls it within a brief that depends on the proposer. Otherwise the Breeder draws.
//
// The draw depends on the search's Seed, the child's order of birth and what was learned by then: of this search's
// children that were taken in, and if the search is Shared, of other searches' pulls that ended before this one began.
func (b *Breeder) Draw(open []bool) (int, error) {
	n := len(b.Proposers)
	if open == nil {
		open = slices.Repeat([]bool{true}, n)
	}
	if n == 1 && open[0] {
		return 0, nil
	}
	var pull bandit.Pull
	err := guard("Policy "+nameOf(b.policy()), func() (err error) {
		pull, err = b.proposing.player.DrawAt(open, uint64(b.born), b.budget.costs(b.proposing.costs))
		return err
	})
	if errors.Is(err, bandit.ErrNoArm) {
		return 0, errors.New("evolve: no proposer can make a child now: add an operator that always can, such as Rewrite")
	}
	if err != nil {
		return 0, fmt.Errorf("evolve: choosing a proposer: %w", err)
	}
	b.proposing.drawn = &pull
	return pull.Arm, nil
}

// choose completes m with the proposer that its brief names, or that was drawn for it.
func (b *Breeder) choose(m *bredChild) error {
	at := m.brief.Proposer - 1
	switch {
	case at >= len(b.Proposers):
		return fmt.Errorf("evolve: Brief.Proposer is %d of %d", m.brief.Proposer, len(b.Proposers))
	case len(b.Proposers) == 0:
		return nil
	case at >= 0 && b.proposing.drawn != nil: // the brief has drawn one, and then named one
		_ = b.proposing.player.Cancel(b.proposing.drawn.ID)
	case at < 0:
		var err error
		if b.proposing.drawn != nil {
			at = b.proposing.drawn.Arm
		} else if at, err = b.Draw(nil); err != nil {
			return err
		}
		if m.pull = b.proposing.drawn; m.pull != nil {
			m.child.Propensity = m.pull.Prob
		}
	}
	if m.proposer = b.Proposers[at]; len(b.Proposers) > 1 {
		m.child.Proposer = m.proposer.Name
	}
	return nil
}

// newProposing returns what a search knows of its proposers when it begins.
func (b *Breeder) newProposing() (p proposing) {
	if n := len(b.Proposers); n > 0 {
		b.Policy = b.policy()
		// The name is that of a time when operators alone were drawn, so that older journals go on.
		seed, _ := stream.Seed(uint64(b.Seed), "population operator", 0)
		p.player, p.costs = bandit.NewPlayer(b.policy(), n, seed), allocation.NewLearner(n)
	}
	return p
}

// listen begins a step: it learns what other searches of the run have learned since the last one.
func (b *Breeder) listen(turn *Turn) {
	if turn == nil || turn.shared == nil {
		return
	}
	b.budget = turn.shared.budget
	for _, of := range turn.lessons[b.proposing.heard:] {
		at := slices.IndexFunc(b.Proposers, func(p Proposer) bool { return p.Name == of.proposer })
		if at < 0 || of.arm == turn.pull.Arm || !b.Shared {
			continue
		}
		b.proposing.costs.Add(at, 1, of.spent, true)
		if of.credit == nil || of.prob == 0 {
			continue
		}
		if pull, err := b.proposing.player.Adopt(at, of.prob); err == nil {
			_ = b.proposing.player.Report(pull.ID, *of.credit) // it is finite, and pending
		}
	}
	b.proposing.heard = len(turn.lessons)
}

// credit tells the policy what the draw of m was worth.
func (b *Breeder) credit(m *bredChild) error {
	if m.pull == nil {
		return nil
	}
	c := &m.child
	reward, ok := 0.0, false
	if b.Credit == nil {
		reward, ok = b.proposing.gain(*c, m.parent())
	} else if bad := step.Guard("Credit", func() { reward, ok = b.Credit(*c) }); bad != nil {
		return bad
	}
	b.proposing.costs.Add(m.pull.Arm, 1, spentOn(*c, b.budget.Models), true)
	if !ok {
		return b.proposing.player.Cancel(m.pull.ID)
	}
	return guard("Policy "+nameOf(b.policy()), func() error {
		if err := b.proposing.player.Report(m.pull.ID, reward); err != nil {
			return fmt.Errorf("evolve: the Credit of a proposer: %w", err)
		}
		c.Credit = &reward
		return nil
	})
}

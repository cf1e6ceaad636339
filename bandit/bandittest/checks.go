package bandittest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evoalloc/evoalloc/bandit"
)

// checkPrints holds that a policy prints itself, by its parameters alone. A journal knows a run by how its
// policy prints, so what prints a pointer or its state could never be resumed.
func checkPrints(fresh func() bandit.Policy) error {
	p := fresh()
	before := fmt.Sprint(p)
	if _, ok := p.(fmt.Stringer); !ok || before == "" {
		return fmt.Errorf("a %T does not print itself: give it a String method that names every parameter", p)
	}
	if other := fmt.Sprint(fresh()); other != before {
		return fmt.Errorf("equal policies print %q and %q", before, other)
	}
	g := newGame(p, 3, 1)
	if err := g.play(20, g.noisy); err != nil {
		return err
	}
	if after := fmt.Sprint(p); after != before {
		return fmt.Errorf("printed %q at first and %q after 20 pulls", before, after)
	}
	return nil
}

// checkDistribution plays over few and many arms, with other arms open at each draw.
func checkDistribution(fresh func() bandit.Policy) error {
	for _, arms := range []int{2, 3, 10, 100} {
		g := newGame(fresh(), arms, uint64(arms))
		for range 100 {
			g.openSome()
			if err := g.play(1, g.noisy); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkClosedArms asks with every pattern of five open arms. Then it closes the likeliest arms one after the
// other: a policy that has given up on the others must come back to them.
func checkClosedArms(fresh func() bandit.Policy) error {
	const arms = 5
	g := newGame(fresh(), arms, 2)
	for range 2 { // before any pull, then after some
		for set := 1; set < 1<<arms; set++ {
			for arm := range g.open {
				g.open[arm] = set>>arm&1 == 1
			}
			if _, err := g.probs(); err != nil {
				return fmt.Errorf("open arms %v: %w", g.open, err)
			}
		}
		g.openAll()
		if err := g.play(60, g.noisy); err != nil {
			return err
		}
	}
	return closeOneByOne(g)
}

// closeOneByOne closes the likeliest arm, plays on, closes the next, and so on until one arm is left.
func closeOneByOne(g *game) error {
	for range len(g.open) - 1 {
		p, err := g.probs()
		if err != nil {
			return err
		}
		g.open[slices.Index(p, slices.Max(p))] = false
		if err := g.play(10, g.noisy); err != nil {
			return fmt.Errorf("open arms %v: %w", g.open, err)
		}
	}
	return nil
}

// checkPurity plays two policies side by side with the same outcomes. One of them is also asked for
// probabilities that nobody uses. If that shows, Probs changed it.
func checkPurity(fresh func() bandit.Policy) error {
	const arms = 6
	g, twin := newGame(fresh(), arms, 3), newGame(fresh(), arms, 3)
	for range 100 {
		p, err := askAround(g)
		if err != nil {
			return err
		}
		q, err := twin.probs()
		if err != nil {
			return err
		}
		if !slices.Equal(p, q) {
			return fmt.Errorf("draw %d: Probs gave %v, but %v to a policy asked other things before", g.t, q, p)
		}
		pull := g.pull(p)
		twin.take(pull)
		if err := askInVain(g); err != nil {
			return err
		}
		reward := g.noisy(pull)
		g.report(pull, reward)
		twin.report(pull, reward)
	}
	return nil
}

// askAround asks about the coming draw twice, each time after questions that lead to no draw: other arms
// open, later draws, other streams.
func askAround(g *game) ([]float64, error) {
	var answers [2][]float64
	for i := range answers {
		if err := askInVain(g); err != nil {
			return nil, err
		}
		p, err := g.probs()
		if err != nil {
			return nil, err
		}
		answers[i] = p
	}
	if !slices.Equal(answers[0], answers[1]) {
		return nil, fmt.Errorf("draw %d: asked twice with the same stream, Probs gave %v and then %v", g.t, answers[0],
			answers[1])
	}
	return answers[0], nil
}

// askInVain asks about draws that are never made.
func askInVain(g *game) error {
	open, t := slices.Clone(g.open), g.t
	for i := range 3 {
		g.openSome()
		g.t += i
		if _, err := g.ask(uint64(1000 + i)); err != nil {
			return err
		}
	}
	g.t = t
	copy(g.open, open)
	return nil
}

// checkLateOutcomes plays with many pending pulls, as a run of several slots does. Once the arms that have
// one are closed, and once they stay open.
func checkLateOutcomes(fresh func() bandit.Policy) error {
	for _, busyClosed := range []bool{true, false} {
		if err := playLate(newGame(fresh(), 8, 4), busyClosed); err != nil {
			return fmt.Errorf("arms with a pending pull closed: %v: %w", busyClosed, err)
		}
	}
	return nil
}

// playLate keeps up to seven pulls pending over eight arms and lets them end in any order, one in eight of
// them without an outcome. Once in a while an arm closes for good.
func playLate(g *game, busyClosed bool) error {
	const inFlight = 7
	closed := make([]bool, len(g.open))
	var pending []bandit.Pull
	for round := range 400 {
		if round%100 == 99 {
			closed[round/100] = true
		}
		for arm := range g.open {
			g.open[arm] = !closed[arm] && !(busyClosed && g.pending[arm] > 0)
		}
		if slices.Contains(g.open, true) && len(pending) < inFlight {
			pull, err := g.draw()
			if err != nil {
				return err
			}
			pending = append(pending, pull)
		}
		if full := len(pending) == inFlight || !slices.Contains(g.open, true); full || g.rng.IntN(4) == 0 {
			pending = g.endOne(pending)
		}
	}
	return nil
}

// checkSizedPulls plays with pulls that differ in size, from arm to arm and from draw to draw, first one at a time with
// other arms open at each draw, and then several at once.
func checkSizedPulls(fresh func() bandit.Policy) error {
	for _, arms := range []int{1, 2, 7} {
		g := newGame(fresh(), arms, 13)
		for range 60 {
			g.openSome()
			g.resize()
			if err := g.play(1, g.noisy); err != nil {
				return fmt.Errorf("calls %v: %w", g.calls, err)
			}
		}
		g.openAll()
		var pending []bandit.Pull
		for range 60 {
			g.resize()
			pull, err := g.draw()
			if err != nil {
				return fmt.Errorf("calls %v with %v pending: %w", g.calls, g.pending, err)
			}
			if pending = append(pending, pull); len(pending) > 3 {
				pending = g.endOne(pending)
			}
		}
	}
	return nil
}

// checkCosts plays two policies side by side, with pulls that differ in size. One is told that all calls cost the same,
// in which it may see no difference. Then it plays with costs that differ a millionfold.
func checkCosts(fresh func() bandit.Policy) error {
	const arms = 6
	g, twin := newGame(fresh(), arms, 14), newGame(fresh(), arms, 14)
	g.costs = slices.Repeat([]float64{1}, arms)
	for range 200 {
		g.openSome()
		g.resize()
		copy(twin.open, g.open)
		twin.calls = g.calls
		p, err := g.probs()
		if err != nil {
			return err
		}
		q, err := twin.probs()
		if err != nil {
			return err
		}
		if !slices.Equal(p, q) {
			return fmt.Errorf("draw %d: Probs gave %v where all calls cost the same, and %v without costs", g.t, p, q)
		}
		pull := g.pull(p)
		twin.take(pull)
		reward := g.noisy(pull)
		g.report(pull, reward)
		twin.report(pull, reward)
	}
	for arm := range g.costs {
		g.costs[arm] = math.Pow(16, float64(arm))
	}
	for range 100 {
		g.openSome()
		if err := g.play(1, g.noisy); err != nil {
			return fmt.Errorf("costs %v: %w", g.costs, err)
		}
	}
	return nil
}

// endOne ends one of the pending pulls.
func (g *game) endOne(pending []bandit.Pull) []bandit.Pull {
	if len(pending) == 0 {
		return pending
	}
	i := g.rng.IntN(len(pending))
	if pull := pending[i]; g.rng.IntN(8) == 0 {
		g.cancel(pull)
	} else {
		g.report(pull, g.noisy(pull))
	}
	return slices.Delete(pending, i, i+1)
}

// checkAdopted gives two policies the same outcomes. One is asked for its probabilities before each of them,
// the other never before it has them all, so it can know only from the pulls how many arms there are.
func checkAdopted(fresh func() bandit.Policy) error {
	const arms, outcomes = 6, 40
	drawn, adopted := newGame(fresh(), arms, 11), newGame(fresh(), arms, 11)
	for range outcomes {
		pull, err := drawn.draw()
		if err != nil {
			return err
		}
		reward := drawn.noisy(pull)
		drawn.report(pull, reward)
		adopted.take(pull)
		adopted.report(pull, reward)
	}
	p, err := drawn.probs()
	if err != nil {
		return err
	}
	q, err := adopted.probs()
	if err != nil {
		return err
	}
	if !slices.Equal(p, q) {
		return fmt.Errorf("after %d outcomes Probs gives %v, but %v if it was not asked before: does Update need what "+
			"Probs sets? Pull.Arms is the number of arms", outcomes, p, q)
	}
	return nil
}

// checkRerun plays the same game twice. A journal is replayed so, and what differs there makes a run that
// cannot be resumed.
func checkRerun(fresh func() bandit.Policy) error {
	first, err := record(fresh(), 5)
	if err != nil {
		return err
	}
	// In between, another policy learns that the last arm is best. That must not reach the next one.
	g := newGame(fresh(), 10, 6)
	clear(g.open[:9])
	if err := g.play(500, func(bandit.Pull) float64 { return 1 }); err != nil {
		return err
	}
	second, err := record(fresh(), 5)
	if err != nil {
		return err
	}
	for i := range first {
		if first[i] != second[i] {
			return fmt.Errorf("pull %d was %+v, and %+v in a rerun with the same seed", i, first[i], second[i])
		}
	}
	return nil
}

// record plays p with a [bandit.Player] and returns its pulls.
func record(p bandit.Policy, seed uint64) ([]bandit.Pull, error) {
	const arms = 10
	pl, g := bandit.NewPlayer(p, arms, seed), newGame(nil, arms, seed)
	var pulls []bandit.Pull
	for i := range 200 {
		pull, err := pl.Draw(g.open)
		if err != nil {
			return nil, err
		}
		pulls = append(pulls, pull)
		if i%5 == 4 { // five are pending
			for _, late := range pulls[i-4:] {
				if err := pl.Report(late.ID, g.noisy(late)); err != nil {
					return nil, err
				}
			}
		}
	}
	return pulls, nil
}

// checkOneArm plays over a single arm, where ln K is 0 and a deviation over the arms is too.
func checkOneArm(fresh func() bandit.Policy) error {
	g := newGame(fresh(), 1, 7)
	return g.play(100, g.noisy)
}

// checkManyArms plays over more arms than there are pulls.
func checkManyArms(fresh func() bandit.Policy) error {
	g := newGame(fresh(), 1000, 8)
	return g.play(50, g.noisy)
}

// extremes are rewards at the edges of what a pull may be worth.
var extremes = []struct {
	name string
	of   func(pull bandit.Pull) float64
}{
	{"all 0", func(bandit.Pull) float64 { return 0 }},
	{"all 1", func(bandit.Pull) float64 { return 1 }},
	{"all 0.5", func(bandit.Pull) float64 { return 0.5 }},
	{"all -1", func(bandit.Pull) float64 { return -1 }},
	{"0 or 1 by arm", func(p bandit.Pull) float64 { return float64(p.Arm % 2) }},
	{"falling from 0", func(p bandit.Pull) float64 { return -float64(p.ID) }},
	{"tiny", func(p bandit.Pull) float64 { return float64(p.Arm) * math.SmallestNonzeroFloat64 }},
	{"all the largest float64", func(bandit.Pull) float64 { return math.MaxFloat64 }},
	{"the largest float64, either sign by arm", func(p bandit.Pull) float64 { return sign(p.Arm) * math.MaxFloat64 }},
	{"the largest float64, either sign by draw", func(p bandit.Pull) float64 { return sign(p.ID) * math.MaxFloat64 }},
	{"0, then one of 1e300", func(p bandit.Pull) float64 { return 1e300 * oneIf(p.ID == 20) }},
}

func oneIf(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

func sign(i int) float64 { return 1 - 2*float64(i%2) }

// checkExtremeRewards looks for what overflows, divides by 0 or takes the logarithm of a negative number.
func checkExtremeRewards(fresh func() bandit.Policy) error {
	var errs []error
	for _, x := range extremes {
		for _, arms := range []int{1, 2, 5} {
			if err := newGame(fresh(), arms, 9).play(100, x.of); err != nil {
				errs = append(errs, fmt.Errorf("rewards %s, %d arms: %w", x.name, arms, err))
			}
		}
	}
	return errors.Join(errs...)
}

// checkNotFinite gives two policies the same outcomes, and one of them NaN and the infinities as well. The
// pulls of these have a propensity and an arm like any other.
func checkNotFinite(fresh func() bandit.Policy) error {
	const arms = 4
	g, twin := newGame(fresh(), arms, 12), newGame(fresh(), arms, 12)
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	for round := range 60 {
		twin.policy.Update(bandit.Pull{ID: round, Arm: round % arms, Prob: 0.5, Arms: arms}, bad[round%len(bad)])
		p, err := g.probs()
		if err != nil {
			return err
		}
		q, err := twin.probs()
		if err != nil {
			return fmt.Errorf("after a reward of %v: %w", bad[round%len(bad)], err)
		}
		if !slices.Equal(p, q) {
			return fmt.Errorf("draw %d: Probs gave %v, and %v after a reward of %v", g.t, p, q, bad[round%len(bad)])
		}
		pull := g.pull(p)
		twin.take(pull)
		reward := g.noisy(pull)
		g.report(pull, reward)
		twin.report(pull, reward)
	}
	return nil
}

// checkManyRounds draws fifty pulls from each answer of the policy, which keeps it quick. After each batch it
// checks the answer with the likeliest arm closed.
func checkManyRounds(fresh func() bandit.Policy) error {
	const outcomes, batch = 100_000, 50
	g := newGame(fresh(), 4, 10)
	for g.t < outcomes {
		p, err := g.probs()
		if err != nil {
			return err
		}
		for range batch {
			pull := g.pull(p)
			good := 2 * g.t / outcomes // arm 0 at first, then arm 1
			g.report(pull, oneIf(pull.Arm == good))
		}
		g.open[slices.Index(p, slices.Max(p))] = false
		if _, err := g.probs(); err != nil {
			return fmt.Errorf("likeliest arm closed: %w", err)
		}
		g.openAll()
	}
	return nil
}

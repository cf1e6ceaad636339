package cli

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
)

// parsed returns the flags that all searches have, as a command named bandit reads them.
func parsed(args []string) (*Options, error) {
	var o Options
	fs := NewFlags("bandit", "")
	o.Register(fs)
	if err := o.Parse(fs, args); err != nil {
		return nil, err
	}
	return &o, o.CheckBreadth(false)
}

// generations returns an arm whose generations had so many children.
func generations(children ...int) evolve.ArmResult {
	var arm evolve.ArmResult
	for _, n := range children {
		arm.Generations = append(arm.Generations, evolve.Generation{Children: make([]evolve.Child, n)})
	}
	return arm
}

// The summary says how many generations of how many children were made.
func TestSummaryOfTheBreadth(t *testing.T) {
	for _, tt := range []struct {
		reason, breadth string
		arms            []evolve.ArmResult
		want            string
	}{
		{"none was made", fixed, nil, "breadth: fixed"},
		{"all alike", fixed, []evolve.ArmResult{generations(8, 8), generations(8)},
			"breadth: fixed; 3 generations of 8 children"},
		{"one of one", fixed, []evolve.ArmResult{generations(1)}, "breadth: fixed; 1 generation of 1 child"},
		{"they differ, over all arms", adaptive, []evolve.ArmResult{generations(1, 2, 4), generations(), generations(9)},
			"breadth: Adaptive(second=0, waste=0.15, 1..16, kept); 4 generations of 1 to 9 children"},
	} {
		o := Options{Breadth: tt.breadth, N: 16}
		if got := o.breadthOf(&evolve.Result{Arms: tt.arms}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}

// A policy that counts pulls is told their number only where it is known: with a breadth, T·N calls make more than T.
func TestPoliciesAreToldWhatIsKnown(t *testing.T) {
	for _, tt := range []struct{ flags, want string }{
		{"--breadth fixed --algo halving", "T=8,"},
		{"--breadth adaptive --algo halving", "T=0,"},
		{"--breadth adaptive --algo exp3p-auer", "T=0,"},
		{"--breadth fixed --algo ei", "T=128"},
		{"--breadth adaptive --algo ei", "T=128"},
	} {
		flags, algo, _ := strings.Cut(tt.flags, " --algo ")
		o, err := parsed(strings.Fields("--T 8 --N 16 " + flags))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Policy(algo, o.Game())
		if got := fmt.Sprint(p); err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, %v, want %s", tt.flags, got, err, tt.want)
		}
	}
	for _, key := range PolicyKeys() {
		p, err := Policy(key, Game{Calls: 128})
		if err != nil {
			t.Fatal(err)
		}
		probs := make([]float64, 3)
		p.Probs(probs, round(0, 3))
		for i := range 40 {
			p.Update(pull(i, 3), 0.5)
			clear(probs)
			p.Probs(probs, round(i+1, 3))
		}
		if sum := probs[0] + probs[1] + probs[2]; !(sum > 0.999 && sum < 1.001) {
			t.Errorf("%v gives chances %v", p, probs)
		}
	}
}

func round(t, arms int) bandit.Round {
	return bandit.Round{T: t, Open: slices.Repeat([]bool{true}, arms), Pending: make([]int, arms),
		Calls: slices.Repeat([]int{2}, arms), Rand: rand.New(rand.NewPCG(1, uint64(t)))}
}

func pull(id, arms int) bandit.Pull {
	return bandit.Pull{ID: id, Arm: id % arms, Prob: 1 / float64(arms), Arms: arms, Calls: 2}
}

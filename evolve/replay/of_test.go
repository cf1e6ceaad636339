package replay_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/replay"
)

// The log of a result is that of its file, but for what only the file's header says.
func TestOfIsWhatIsRead(t *testing.T) {
	for i, p := range livePolicies {
		policy := p.fresh()
		breadth := []evolve.Breadth{nil, breadth.Adaptive{}}[i%2]
		file, res := resultOf(t, policy, breadth, evolve.Budget{Rounds: 60, RoundsPerArm: 14}, 7)
		want := read(t, string(file))
		got, err := replay.Of(res, fmt.Sprint(policy), 7)
		if err != nil {
			t.Fatal(err)
		}
		want.Task, want.Model, want.N, want.Breadth, want.Run.Algo = "", "", 0, "", ""
		for i := range want.Arms {
			want.Arms[i].Name = got.Arms[i].Name
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the result's log is\n%+v\nand its file's\n%+v", p.name, got, want)
		}
		if err := replay.Verify(got, p.fresh(), 14); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

func TestOfNothing(t *testing.T) {
	if _, err := replay.Of(&evolve.Result{}, "none", 0); err == nil {
		t.Error("a result without arms is a log")
	}
}

func ExampleOf() {
	// A round: which arm was pulled with which chance, and what the policy was told.
	round := func(arm int, reward float64) evolve.Round {
		return evolve.Round{Pull: bandit.Pull{Arm: arm, Prob: 0.5}, Reward: reward}
	}
	var better evolve.Generation
	better.Best.Result.Score = 0.7
	l, err := replay.Of(&evolve.Result{
		Rounds: []evolve.Round{round(1, 0.7), round(0, 0)},
		Arms:   []evolve.ArmResult{{Generations: make([]evolve.Generation, 1)}, {Generations: []evolve.Generation{better}}},
	}, "Random", 0)
	fmt.Println(l.Run.Selections, l.Arms[1].Best, err)
	// Output: [1 0] [0 0.7] <nil>
}

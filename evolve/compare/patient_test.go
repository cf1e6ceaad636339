package compare_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
	"github.com/evoalloc/evoalloc/evolve/compare"
)

func TestPatientIsAPolicy(t *testing.T) {
	bandittest.Run(t, func() bandit.Policy { return &compare.Patient{} })
}

// turns returns the arms of n pulls, of which those in good are rewarded.
func turns(t *testing.T, p bandit.Policy, arms, n int, good func(i, arm int) bool) []int {
	t.Helper()
	player := bandit.NewPlayer(p, arms, 1)
	open := slices.Repeat([]bool{true}, arms)
	var drawn []int
	for i := range n {
		pull, err := player.Draw(open)
		if err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, pull.Arm)
		reward := 0.0
		if good(i, pull.Arm) {
			reward = 1
		}
		if err := player.Report(pull.ID, reward); err != nil {
			t.Fatal(err)
		}
	}
	return drawn
}

func TestPatientTurns(t *testing.T) {
	never := func(int, int) bool { return false }
	for _, tt := range []struct {
		reason string
		policy compare.Patient
		good   func(i, arm int) bool
		want   []int
	}{
		{"each has one pull more than its patience", compare.Patient{Least: 2, Share: 0.01}, never, []int{0, 0, 0, 1, 1, 1, 0, 0, 0, 1}},
		{"a reward begins the count anew", compare.Patient{Least: 2, Share: 0.01}, func(i, _ int) bool { return i == 1 }, []int{0, 0, 0, 0, 0, 1, 1, 1, 0, 0}},
		{"who is rewarded stays", compare.Patient{Least: 1, Share: 0.01}, func(_, arm int) bool { return arm == 1 }, []int{0, 0, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"patience grows with the run", compare.Patient{Least: 1, Share: 0.5}, never, []int{0, 0, 1, 1, 1, 0, 0, 0, 0, 0}},
	} {
		if got := turns(t, &tt.policy, 2, 10, tt.good); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// An arm that is rewarded for a while and then no more, and one that goes on.
func ExamplePatient() {
	p := &compare.Patient{Least: 2}
	drawn := []int{}
	player := bandit.NewPlayer(p, 2, 1)
	for i := range 10 {
		pull, err := player.Draw([]bool{true, true})
		if err != nil {
			fmt.Println(err)
			return
		}
		drawn = append(drawn, pull.Arm)
		reward := 0.0
		if pull.Arm == 1 || i < 3 {
			reward = 1
		}
		if err := player.Report(pull.ID, reward); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(p, drawn)
	// Output: Patient(2, 0.0625) [0 0 0 0 0 0 1 1 1 1]
}

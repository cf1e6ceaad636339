package population_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
)

func TestTop(t *testing.T) {
	for _, tt := range []struct {
		reason string
		add    []population.Member
		want   []int
		kept   []bool
	}{
		{"best first", []population.Member{member(0, "", 1), member(1, "", 3), member(2, "", 2)}, []int{1, 2, 0},
			[]bool{true, true, true}},
		{"a better one replaces the worst", []population.Member{member(0, "", 1), member(1, "", 2), member(2, "", 3),
			member(3, "", 4)}, []int{3, 2, 1}, []bool{true, true, true, true}},
		{"a tie with the worst does not", []population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 1),
			member(3, "", 1)}, []int{0, 1, 2}, []bool{true, true, true, false}},
		{"of equals the one that came first is first, and stays",
			[]population.Member{member(5, "", 1), member(3, "", 1), member(4, "", 1), member(1, "", 2)}, []int{1, 5, 3},
			[]bool{true, true, true, true}},
		{"a valid one replaces an invalid one at any score",
			[]population.Member{invalid(0, ""), member(1, "", -9), member(2, "", -8), member(3, "", -7)}, []int{3, 2, 1},
			[]bool{true, true, true, true}},
	} {
		a := population.Top(3)
		for i, m := range tt.add {
			if kept := a.Add(m); kept != tt.kept[i] {
				t.Errorf("%s: member %d kept: %v", tt.reason, m.ID, kept)
			}
		}
		if got := ids(a.Members()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

func TestDrift(t *testing.T) {
	for _, tt := range []struct {
		reason string
		add    []population.Member
		want   int
	}{
		{"a better one is kept", []population.Member{member(0, "", 1), member(1, "", 2)}, 1},
		{"of equals the last", []population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 1)}, 2},
		{"a worse one is not", []population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 0)}, 1},
		{"a valid one replaces an invalid one at any score", []population.Member{invalid(0, ""), member(1, "", -9)}, 1},
	} {
		a := population.Drift()
		for i, m := range tt.add {
			if kept := a.Add(m); kept != (ids(a.Members())[0] == m.ID) {
				t.Errorf("%s: member %d kept: %v", tt.reason, i, kept)
			}
		}
		if got := ids(a.Members()); !slices.Equal(got, []int{tt.want}) {
			t.Errorf("%s: %v, want %d alone", tt.reason, got, tt.want)
		}
	}
}

func TestAll(t *testing.T) {
	a := population.All()
	for i, score := range []float64{1, 3, 2, 3} {
		a.Add(member(i, "", score))
	}
	if got := ids(a.Members()); !slices.Equal(got, []int{1, 3, 2, 0}) {
		t.Errorf("%v, want all, the best first and of equals the older", got)
	}
}

// A program takes its parent's place if it is better, and a later child of the same parent has to be better than that
// heir.
func TestHeirs(t *testing.T) {
	a := population.Heirs(2)
	for i, tt := range []struct {
		reason  string
		score   float64
		parents []int
		want    []int
	}{
		{"the initial program", 1, nil, []int{0}},
		{"there is room", 0, []int{0}, []int{0, 1}},
		{"worse than its parent", 0.5, []int{0}, []int{0, 1}},
		{"better than its parent", 2, []int{0, 1}, []int{3, 1}},
		{"better than its parent, not than the heir", 1.5, []int{0}, []int{3, 1}},
		{"a parent without a place", 9, []int{7}, []int{3, 1}},
	} {
		m := member(i, "", tt.score)
		m.Parents = tt.parents
		if kept := a.Add(m); kept != slices.Contains(tt.want, i) || !slices.Equal(ids(a.Members()), tt.want) {
			t.Errorf("%s: kept %v, members %v, want %v", tt.reason, kept, ids(a.Members()), tt.want)
		}
	}
}

// A member that is added again has another score, and stands where that belongs, once.
func TestMembersAreReplaced(t *testing.T) {
	for _, a := range []population.Archive{population.Top(3), population.All(), population.Heirs(3)} {
		for i, score := range []float64{1, 2, 3} {
			a.Add(member(i, "", score))
		}
		a.Add(member(2, "", 0))
		if got := population.Best().Select(a.Members(), nil); len(a.Members()) != 3 || a.Members()[got].ID != 1 {
			t.Errorf("%v: %v after the best has fallen", a, ids(a.Members()))
		}
	}
	d := population.Drift()
	d.Add(member(0, "", 2))
	d.Add(member(0, "", 0))
	if d.Add(member(1, "", 1)); d.Members()[0].ID != 1 {
		t.Error("Drift compares with a score that has changed")
	}
}

// Whatever is added, every archive holds what it says, in an order that does not depend on a map, and its best member
// is the best that it could hold.
func TestArchivesHoldWhatTheySay(t *testing.T) {
	for name, archive := range map[string]func() population.Archive{
		"Top": func() population.Archive { return population.Top(7) },
		"All": func() population.Archive { return population.All() },
		"Islands": func() population.Archive {
			return &population.Islands{Of: []population.Archive{population.Top(3), population.All()}}
		},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		a, again := archive(), archive()
		best := member(0, "a b c d e f", -1)
		a.Add(best)
		again.Add(member(0, "a b c d e f", -1))
		for id := 1; id < 300; id++ {
			program := string(rune('a'+r.IntN(9))) + fmt.Sprintf(" %d b c %d", r.IntN(9), r.IntN(9))
			score := float64(r.IntN(40))
			cases := []float64{float64(r.IntN(5)), float64(r.IntN(5)), score}
			m, twin := member(id, program, score), member(id, program, score)
			m.Result.Cases, twin.Result.Cases = cases, cases
			if m.Better(best.Candidate) {
				best = m
			}
			add(a, id, m)
			add(again, id, twin)
		}
		members := a.Members()
		if top := members[population.Best().Select(members, nil)]; top.Result.Score != best.Result.Score {
			t.Errorf("%s: its best has %v, and %v was offered", name, top.Result.Score, best.Result.Score)
		}
		if diff := cmp.Diff(ids(members), ids(again.Members())); diff != "" {
			t.Errorf("%s: the same members in another order:\n%s", name, diff)
		}
		seen := map[int]bool{}
		for _, m := range members {
			if seen[m.ID] {
				t.Errorf("%s: member %d stands twice", name, m.ID)
			}
			seen[m.ID] = true
		}
	}
}

// add adds m to one island or the other, or to an archive without islands.
func add(a population.Archive, i int, m population.Member) {
	if p, ok := a.(*population.Islands); ok {
		a = p.Of[i%2]
	}
	a.Add(m)
}

// The initial program is on each island, with a count of its own: what it is asked on one does not weigh against it on
// another. A program is a member once.
func TestIslands(t *testing.T) {
	s := &population.Islands{Of: []population.Archive{population.Top(9), population.Top(9)}}
	s.Add(population.NewMember(evolve.Child{Candidate: member(0, "start", -1).Candidate}, 5))
	s.Of[0].Add(member(1, "", 1))
	s.Of[1].Add(member(2, "", 2))
	if all := ids(s.Members()); !slices.Equal(all, []int{1, 0, 2}) {
		t.Errorf("all members are %v", all)
	}
	for i, a := range s.Of {
		if m := a.Members()[1]; m.ID != 0 || m.Asked() != 0 {
			t.Errorf("island %d has %d, asked %d times", i, m.ID, m.Asked())
		}
	}
}

package population_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve/population"
)

func TestTop(t *testing.T) {
	for _, tt := range []struct {
		reason string
		add    []*population.Member
		want   []int
		kept   []bool
	}{
		{"best first", []*population.Member{member(0, "", 1), member(1, "", 3), member(2, "", 2)}, []int{1, 2, 0},
			[]bool{true, true, true}},
		{"a better one replaces the worst", []*population.Member{member(0, "", 1), member(1, "", 2), member(2, "", 3),
			member(3, "", 4)}, []int{3, 2, 1}, []bool{true, true, true, true}},
		{"a tie with the worst does not", []*population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 1),
			member(3, "", 1)}, []int{0, 1, 2}, []bool{true, true, true, false}},
		{"of equals the one that came first is first, and stays",
			[]*population.Member{member(5, "", 1), member(3, "", 1), member(4, "", 1), member(1, "", 2)}, []int{1, 5, 3},
			[]bool{true, true, true, true}},
		{"a valid one replaces an invalid one at any score",
			[]*population.Member{invalid(0, ""), member(1, "", -9), member(2, "", -8), member(3, "", -7)}, []int{3, 2, 1},
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
		add    []*population.Member
		want   int
	}{
		{"a better one is kept", []*population.Member{member(0, "", 1), member(1, "", 2)}, 1},
		{"of equals the last", []*population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 1)}, 2},
		{"a worse one is not", []*population.Member{member(0, "", 1), member(1, "", 1), member(2, "", 0)}, 1},
		{"a valid one replaces an invalid one at any score", []*population.Member{invalid(0, ""), member(1, "", -9)}, 1},
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
	for _, tt := range []struct {
		reason string
		most   int
		scores []float64
		want   []int
	}{
		{"all stay, best first", 0, []float64{1, 3, 2}, []int{1, 2, 0}},
		{"the oldest leaves", 3, []float64{1, 2, 3, 4, 0}, []int{3, 2, 4}},
		{"but not the best one", 3, []float64{9, 2, 3, 4, 5}, []int{0, 4, 3}},
		{"which leaves when it is not the best any more", 3, []float64{9, 2, 3, 4, 10}, []int{4, 3, 2}},
		{"nor of two equal best ones the older", 2, []float64{9, 9, 1, 2}, []int{0, 3}},
		{"one alone is greedy search's", 1, []float64{2, 1, 3, 3}, []int{2}},
	} {
		a := population.All(tt.most)
		for i, s := range tt.scores {
			a.Add(member(i, "", s))
		}
		if got := ids(a.Members()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// Whatever is added, every archive holds what it says, in an order that does not depend on a map, and its best member
// is the best that it could hold.
func TestArchivesHoldWhatTheySay(t *testing.T) {
	for name, archive := range map[string]func() population.Archive{
		"Top":    func() population.Archive { return population.Top(7) },
		"All":    func() population.Archive { return population.All(0) },
		"All(9)": func() population.Archive { return population.All(9) },
		"Islands": func() population.Archive {
			return &population.Islands{Of: []population.Archive{population.Top(3), population.All(0)}, Every: 3, Rate: 0.5}
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
		if top := (population.Best()).Select(members, nil); top.Result.Score != best.Result.Score {
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
func add(a population.Archive, i int, m *population.Member) {
	if p, ok := a.(*population.Islands); ok {
		p.AddTo(i%2, m)
		return
	}
	a.Add(m)
}

func TestIslands(t *testing.T) {
	for _, tt := range []struct {
		reason string
		every  int
		want   [][]int
	}{
		{"nobody migrates", 0, [][]int{{1, 4, 0}, {2, 0}, {3, 0}}},
		{"the best of each goes to the next, and no further", 2, [][]int{{3, 1, 4, 0}, {2, 1, 0}, {3, 2, 0}}},
	} {
		s := &population.Islands{Of: []population.Archive{population.Top(9), population.Top(9), population.Top(9)},
			Every: tt.every}
		s.Add(member(0, "start", -1))
		for i := range 3 {
			s.AddTo(i, member(i+1, "", float64(i+1)))
		}
		s.AddTo(0, member(4, "", 0.5))
		for i, part := range s.Of {
			if got := ids(part.Members()); !slices.Equal(got, tt.want[i]) {
				t.Errorf("%s: island %d has %v, want %v", tt.reason, i, got, tt.want[i])
			}
		}
		all := ids(s.Members())
		slices.Sort(all)
		if !slices.Equal(all, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%s: all members are %v", tt.reason, all)
		}
	}
}

// A copy has counters of its own: what it is asked on one island does not weigh against it on another.
func TestMigrantsAreCopies(t *testing.T) {
	s := &population.Islands{Of: []population.Archive{population.Top(2), population.Top(2)}}
	s.Add(member(0, "start", 0))
	s.Of[0].Members()[0].Asked = 5
	if n := s.Of[1].Members()[0].Asked; n != 0 {
		t.Errorf("the other island's member was asked %d times", n)
	}
}

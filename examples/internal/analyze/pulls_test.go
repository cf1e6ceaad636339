package analyze

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestAllocateByHand(t *testing.T) {
	arms := [][]float64{{0, 1, 2, 2, 2}, {0, 0, 3, 5, 8}, {0, 1, 1, 1, 1}}
	a, err := allocate([]int{0, 1, 1, 0}, arms)
	if err != nil {
		t.Fatal(err)
	}
	// Alone arm 1 would have had 0, 3, 5, 8 after 1 to 4 pulls, arm 0 one after the first; the run has 1, 1, 3, 3.
	if !slices.Equal(a.regret, []float64{0, 2, 2, 5}) {
		t.Errorf("regret %v, want %v", a.regret, []float64{0, 2, 2, 5})
	}
	if !slices.Equal(a.share, []float64{0.5, 0.5, 0}) {
		t.Errorf("share %v, want %v", a.share, []float64{0.5, 0.5, 0})
	}
	if a.effective != 2 || !slices.Equal(a.ranked, []int{1, 0, 2}) {
		t.Errorf("%+v", a)
	}
	if said := armsUsed([]allocation{a}); !strings.HasPrefix(said[0], "calls were spread over 2.0 arms of 3 ") {
		t.Error(said)
	}
	if a, err = allocate([]int{2, 2}, arms); err != nil || !strings.Contains(armsUsed([]allocation{a, a})[0], "2 runs went to one arm of 3") {
		t.Errorf("%+v, %v", a, err)
	}
	arms[1] = arms[1][:3] // known as far as it was pulled, arm 1 may have stayed at 3
	if a, err = allocate([]int{0, 1, 1, 0}, arms); err != nil || !slices.Equal(a.regret, []float64{0, 2, 0, 0}) {
		t.Errorf("%+v, %v", a, err)
	}
}

// Several arms can do better than any one of them.
func TestRegretBelowZero(t *testing.T) {
	a, err := allocate([]int{0, 1}, [][]float64{{0, 0, 1}, {0, 2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.regret, []float64{2, 0}) {
		t.Errorf("regret %v, want %v", a.regret, []float64{2, 0})
	}
	a, err = allocate([]int{0, 1}, [][]float64{{4, 4, 4}, {0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.regret, []float64{0, 0}) {
		t.Errorf("regret %v, want %v", a.regret, []float64{0, 0})
	}
}

func TestAllocateRefuses(t *testing.T) {
	for _, c := range []struct {
		reason string
		pulls  []int
		arms   [][]float64
		want   string
	}{
		{"no pulls", nil, [][]float64{{0}}, "0 pulls over 1 arms"},
		{"no arms", []int{0}, nil, "1 pulls over 0 arms"},
		{"an arm without scores", []int{0}, [][]float64{{0, 1}, {}}, "arm 1 has no score"},
		{"a score that falls", []int{0}, [][]float64{{0, -1}}, "-1 after 1 pulls"},
		{"no number", []int{0}, [][]float64{{0, math.Inf(1)}}, "+Inf after 1 pulls"},
		{"no such arm", []int{1}, [][]float64{{0, 1}}, "pulls arm 1 of 1"},
		{"more pulls than are known", []int{0, 0}, [][]float64{{0, 1}}, "pull 2 of arm 0, which is known for 1"},
	} {
		if _, err := allocate(c.pulls, c.arms); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
}

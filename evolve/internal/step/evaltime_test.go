package step

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestEvalTimeRoom(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		reason  string
		time    EvalTime
		pending []int
		want    int
	}{
		{"at first each is taken to be the worst", EvalTime{Left: 100 * s, Worst: 10 * s}, nil, 10},
		{"children that took less leave room for more", EvalTime{Left: 100 * s, Worst: 10 * s, Sum: 10 * s, Scored: 9}, nil,
			46},
		{"pending pulls take what their children are expected to",
			EvalTime{Left: 100 * s, Worst: 10 * s, Sum: 10 * s, Scored: 9}, []int{10, 5}, 31},
		{"room for the worst case and no more", EvalTime{Left: 10 * s, Worst: 10 * s}, nil, 1},
		{"none", EvalTime{Left: 10*s - 1, Worst: 10 * s}, nil, 0},
		{"pending pulls leave none", EvalTime{Left: 100 * s, Worst: 10 * s}, []int{10}, 0},
		{"evaluations that take no time", EvalTime{Left: 3, Worst: 1, Scored: 9}, nil, 3},
	} {
		if got := tt.time.Room(tt.pending); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.reason, got, tt.want)
		}
	}
	// Pulls without a limit that an older journal holds leave no room for more children, however many are pending.
	for n := 1; n <= 9; n++ {
		if got := (EvalTime{Left: time.Hour, Worst: s}).Room(slices.Repeat([]int{math.MaxInt}, n)); got != 0 {
			t.Errorf("%d pulls without a limit: room for %d", n, got)
		}
	}
}

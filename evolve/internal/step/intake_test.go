package step

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// play begins children while there is room, and takes in those whose turn it is each time that one has ended, in the
// order of ends. It returns what happened: "+i" begun, "!i" begun beyond the window, "i" taken in, with a star if the
// journal has that already.
func play(q *Queue[int], paused int, ends ...int) string {
	var log []string
	say := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	advance := func() {
		for {
			for {
				if _, all := q.Begun(); all {
					break
				}
				room, beyond, _ := q.Room(paused)
				if !room && !beyond {
					break
				}
				sign := "+"
				if beyond {
					sign = "!"
				}
				say("%s%d", sign, q.Begin())
				q.Run()
			}
			child, known, ok := q.Next()
			if !ok {
				return
			}
			if known {
				say("%d*", child)
			} else {
				say("%d", child)
			}
		}
	}
	advance()
	for _, i := range ends {
		q.End(i, i)
		advance()
	}
	return strings.Join(log, " ")
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		reason    string
		n, window int
		byIndex   bool
		repeat    []int
		paused    int
		ends      []int
		want      string
	}{
		{"without a window all are begun before the first is taken in", 3, 0, true, nil, 0, []int{2, 1, 0}, "+0 +1 +2 0 1 2"},
		{"by index a slow child holds the window back", 4, 2, true, nil, 0, []int{1, 0, 2, 3}, "+0 +1 0 +2 1 +3 2 3"},
		{"as they end it does not", 4, 2, false, nil, 0, []int{1, 2, 3, 0}, "+0 +1 1 +2 2 +3 3 0"},
		{"the journal's order is repeated, whichever ends first", 3, 2, false, []int{1, 0}, 0, []int{0, 1, 2},
			"+0 +1 1* +2 0* 2"},
		{"a child that pauses lets another begin", 3, 2, false, nil, 1, []int{2, 0, 1}, "+0 +1 !2 2 0 1"},
		{"a window does not double", 9, 2, false, nil, 9, nil, "+0 +1 !2"},
		{"by index none begins beyond the window", 3, 2, true, nil, 2, nil, "+0 +1"},
		{"the journal says which began beyond it", 3, 2, false, []int{record.Beyond, 2}, 0, []int{2, 0, 1},
			"+0 +1 !2 2* 0 1"},
	} {
		if got := play(NewQueue[int](tt.n, tt.window, tt.byIndex, tt.repeat), tt.paused, tt.ends...); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
}

// A journal that names a child which was never begun tells of another search.
func TestMissing(t *testing.T) {
	q := NewQueue[int](3, 1, false, []int{2})
	play(q, 0, 0)
	if child, ok := q.Missing(); child != 2 || !ok || q.Running() != 0 {
		t.Errorf("child %d, %v, with %d under way, want 2 with none", child, ok, q.Running())
	}
}

// Children that wait for one that was never sent are taken in by index in the end.
func TestRest(t *testing.T) {
	q := NewQueue[int](4, 0, true, nil)
	play(q, 0, 3, 1)
	if got := slices.Collect(q.Rest()); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("%v, want 1 and 3", got)
	}
}

package sweep

import (
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/sweep"
)

func scoreOf(task, model string, n, t, answered int) sweep.Score {
	return sweep.Score{Cell: sweep.Cell{Task: task, Model: model, Method: "greedy", N: n, T: t}, Answered: answered}
}

// A run without any answer has the fewest, whichever comes first.
func TestFewestAnswered(t *testing.T) {
	none, all, other := scoreOf("cp", "m", 1, 4, 0), scoreOf("cp", "m", 2, 2, 4), scoreOf("mmd", "m", 4, 1, 1)
	for _, scores := range [][]sweep.Score{{none, all, other}, {other, all, none}} {
		if got := fewest("cp", "m", scores); fmt.Sprint(got) != "map[4:0]" {
			t.Errorf("of %v: %v, want 0 of 4", scores, got)
		}
	}
}

// Runs that were read have a table too if they are of another task or model than the plan's.
func TestProblemsOfRunsThatWereRead(t *testing.T) {
	got := problems(sweep.Plan{}, []sweep.Score{scoreOf("cp", "theirs", 1, 1, 1), scoreOf("cp", "theirs", 1, 2, 2),
		scoreOf("mmd", "m", 1, 1, 1)})
	if want := []problem{{"cp", "theirs"}, {"mmd", "m"}}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

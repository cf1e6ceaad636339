package peers

import (
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// ended is a search that came to a score.
type ended struct {
	evolve.Arm
	best eval.Candidate
}

func (e ended) Best() eval.Candidate { return e.best }

// The best program that is handed on is that which GEPA hands on.
func TestOmniParity(t *testing.T) {
	var record struct {
		Plays []struct {
			Scores []float64 `json:"scores"`
			Winner int       `json:"winner"`
		} `json:"plays"`
	}
	recorded(t, "omni", &record)
	for i, play := range record.Plays {
		h := &heir{}
		for k, score := range play.Scores {
			best := eval.Candidate{Program: string(rune('0' + k)), Result: eval.Result{Valid: true, Score: score}}
			h.from = append(h.from, &racer{Arm: ended{best: best}})
		}
		if got := int(h.Best().Program[0] - '0'); got != play.Winner {
			t.Errorf("play %d: of %v the program of %d is handed on, want %d", i, play.Scores, got, play.Winner)
		}
	}
}

// Each search has its slice, and the last begins from the best of the others and goes on with the rest.
func TestOmniSlices(t *testing.T) {
	p, err := Named("omni")
	if err != nil {
		t.Fatal(err)
	}
	arm, err := p.Arm(Setting{Task: newSixNumbers(t), LLM: llm.Func(mover), N: 8, Seed: 3, Calls: 80}, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Calls: 80}})
	if err != nil || res.Calls != 80 {
		t.Fatalf("%d calls, %v", res.Calls, err)
	}
	inner := arm.(Omni).Result()
	best := inner.Arms[0].Start
	for i, a := range inner.Arms {
		answered := 0
		for _, g := range a.Generations {
			for _, c := range g.Children {
				if c.Answered() {
					answered++
				}
			}
		}
		if answered != 20 {
			t.Errorf("search %d has %d answers, want 20", i, answered)
		}
		if i < 3 && a.Best.Better(best) {
			best = a.Best
		}
	}
	if first := inner.Arms[3].Generations[0]; first.Before.Program != best.Program ||
		inner.Best.Result.Score < best.Result.Score {
		t.Errorf("the last one begins from %q, want %q", first.Before.Program, best.Program)
	}
}

// Searches take turns until they are done, and then the last has all.
func TestRace(t *testing.T) {
	for _, tt := range []struct {
		t      int
		open   []bool
		want   int
		reason string
	}{
		{0, []bool{true, true, true, true}, 0, "the first"},
		{1, []bool{true, true, true, true}, 1, "the next"},
		{3, []bool{true, true, true, true}, 0, "the first again, not the heir"},
		{4, []bool{true, false, true, true}, 2, "one is done"},
		{5, []bool{false, false, false, true}, 3, "all are done"},
	} {
		p := make([]float64, 4)
		race{}.Probs(p, bandit.Round{T: tt.t, Open: tt.open})
		if p[tt.want] != 1 {
			t.Errorf("%s: chances %v", tt.reason, p)
		}
	}
}

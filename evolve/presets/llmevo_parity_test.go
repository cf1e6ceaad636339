package presets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/stream"
)

// llmEvoPlay is a history: the scores of programs in order of birth, of which the first ten are there to begin with and
// each generation adds sixteen, and of each generation the parents and what is shown.
type llmEvoPlay struct {
	Scores      []float64 `json:"scores"`
	Generations []struct {
		Parents []int `json:"parents"`
		Shown   []int `json:"shown"`
	} `json:"generations"`
}

// The same programs are kept, bred and shown as with LLM-Evo.
func TestLLMEvoParity(t *testing.T) {
	var record struct {
		Draws int            `json:"draws"`
		Plays []llmEvoPlay   `json:"plays"`
		Third llmEvoPlay     `json:"third"`
		Shown map[string]int `json:"shown"`
	}
	recorded(t, "llmevo", &record)
	for i, play := range append(record.Plays, record.Third) {
		play.replay(len(play.Generations), uint64(i), func(g int, tr *tribe) {
			of := play.Generations[g]
			var parents []int
			for k := range of.Parents {
				parents = append(parents, tr.Members()[k/2%len(tr.Members())].ID)
			}
			if !slices.Equal(parents, of.Parents) {
				t.Errorf("play %d, generation %d: parents %v, want %v", i, g, parents, of.Parents)
			}
			if g == 0 { // which shows one of ten, and here there is one
				return
			}
			var shown []int
			for _, m := range tr.shown {
				shown = append(shown, m.ID)
			}
			if len(shown) != len(of.Shown) || !slices.Equal(shown[:5], of.Shown[:5]) {
				t.Errorf("play %d, generation %d: %v are shown, want %v with any other two", i, g, shown, of.Shown)
			}
		})
	}
	drawn := map[string]int{}
	for n := range record.Draws {
		record.Third.replay(3, uint64(n), func(g int, tr *tribe) {
			for _, m := range tr.shown {
				if g == 2 {
					drawn[strconv.Itoa(m.ID)]++
				}
			}
		})
	}
	alike(t, "shown", record.Shown, drawn)
}

// replay plays generations, and calls see when each begins.
func (play llmEvoPlay) replay(generations int, seed uint64, see func(generation int, t *tribe)) {
	tr := LLMEvo(population.Config{}).Archive.(*tribe)
	add := func(id int) {
		m := population.Member{ID: id}
		m.Program, m.Result = fmt.Sprint(id), eval.Result{Valid: true, Score: play.Scores[id]}
		tr.Add(m)
	}
	for id := range 10 {
		add(id)
	}
	for g := range generations {
		tr.begin(&population.View{Step: g + 1, Rand: stream.New(seed, "llm-evo", uint64(g))})
		see(g, tr)
		for k := range 16 {
			add(10 + 16*g + k)
		}
	}
}

// The operators' chances are those of LLM-Evo after the same rewards.
func TestLLMEvoRouter(t *testing.T) {
	var record struct {
		Bandit []struct {
			Probs  []float64 `json:"probs"`
			Op     int       `json:"op"`
			Reward float64   `json:"reward"`
		} `json:"bandit"`
	}
	recorded(t, "llmevo", &record)
	b := LLMEvo(population.Config{}).Policy
	for i, step := range record.Bandit {
		p := make([]float64, 4)
		b.Probs(p, bandit.Round{Open: []bool{true, true, true, true}})
		for k := range p {
			if math.Abs(p[k]-step.Probs[k]) > 1e-4 { // there, a pull more than there was counts a millionth
				t.Fatalf("after %d rewards the chances are %v, want %v", i, p, step.Probs)
			}
		}
		b.Update(bandit.Pull{Arm: step.Op}, step.Reward)
	}
}

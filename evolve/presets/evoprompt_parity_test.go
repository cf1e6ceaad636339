package presets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// promptScores are ten programs, p0 to p9, and their scores.
type promptScores []float64

// add gives the programs to an archive.
func (s promptScores) add(a population.Archive) {
	for i, score := range s {
		m := programOf(fmt.Sprint("p", i))
		m.ID, m.Result = i, eval.Result{Valid: true, Score: score}
		a.Add(m)
	}
}

func programsOf(members []population.Member) (list []string) {
	for _, m := range members {
		list = append(list, m.Program)
	}
	return list
}

// The same prompts stay as with EvoPrompt, and are the first parents.
func TestEvoPromptStays(t *testing.T) {
	var record struct {
		Stays []struct {
			Mode     string       `json:"mode"`
			Scores   promptScores `json:"scores"`
			Children []scored     `json:"children"`
			First    []string     `json:"first"`
			Kept     [][]string   `json:"kept"`
		} `json:"stays"`
	}
	recorded(t, "evoprompt", &record)
	for _, play := range record.Stays {
		archive := map[string]func(population.Config) population.Config{"ga": EvoPromptGA, "de": EvoPromptDE}[play.Mode](population.Config{}).Archive
		play.Scores.add(archive)
		for i, c := range play.Children {
			m := programOf(c.text)
			m.ID, m.Result = 10+i, eval.Result{Valid: true, Score: c.score}
			if play.Mode == "de" {
				parent := archive.Members()[i%10]
				if m.Parents = []int{parent.ID}; parent.Program != play.First[i] {
					t.Errorf("child %d is of %s, want %s", i, parent.Program, play.First[i])
				}
			}
			archive.Add(m)
			if i%10 != 9 {
				continue
			}
			kept := programsOf(archive.Members())
			if play.Mode == "ga" {
				slices.Sort(kept)
			}
			if want := play.Kept[i/10]; !slices.Equal(kept, want) {
				t.Errorf("%s, after %d children: %v stay, want %v", play.Mode, i+1, kept, want)
			}
		}
	}
}

// Of a population that no child gets into the same programs are shown as often.
func TestEvoPromptDraws(t *testing.T) {
	var record struct {
		Draws []struct {
			Mode   string         `json:"mode"`
			Scores promptScores   `json:"scores"`
			Drawn  map[string]int `json:"drawn"`
		} `json:"draws"`
	}
	recorded(t, "evoprompt", &record)
	for i, play := range notrun.Few(record.Draws, 1, 2) { // one of each mode
		n := 0
		for _, count := range play.Drawn {
			n += count
		}
		config := map[string]func(population.Config) population.Config{"ga": EvoPromptGA, "de": EvoPromptDE}[play.Mode]
		alike(t, fmt.Sprintf("draws %d, %s", i, play.Mode), play.Drawn, play.Scores.shown(t, config, n))
	}
}

// shown runs a search that comes to these programs first, and finds nothing better in some n children more. It returns how
// often these show which programs: the parents, and what else is shown.
func (s promptScores) shown(t *testing.T, config func(population.Config) population.Config, n int) map[string]int {
	t.Helper()
	calls := 0
	model := llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		calls++
		text := "bad"
		if calls < len(s) {
			text = fmt.Sprint("p", calls)
		}
		return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
	})
	counts := map[string]int{}
	spec := newTable(t, s)
	spec.asked = func(ask task.Request) {
		if calls < len(s)-1 {
			return
		}
		var names []string
		for _, c := range ask.Parents {
			names = append(names, c.Program)
		}
		for _, section := range ask.Sections {
			for _, c := range section.Programs {
				names = append(names, c.Program)
			}
		}
		counts[strings.Join(names, " ")]++
	}
	p, err := population.New(config(population.Config{Task: spec, LLM: model, N: min(evolve.MaxN, 8*n), Seed: 5, Window: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Step(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return counts
}

// table is a task whose programs have the scores of a table, and any other −1. It tells what it is asked to show.
type table struct {
	task.Task
	asked func(task.Request)
}

func newTable(t *testing.T, scores promptScores) *table {
	t.Helper()
	of, err := task.New(task.Spec{Name: "table", Language: "text", Initial: "p0",
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			for i, score := range scores {
				if program == fmt.Sprint("p", i) {
					return eval.Result{Valid: true, Score: score}, nil
				}
			}
			return eval.Result{Valid: true, Score: -1}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return &table{Task: of}
}

func (o *table) Prompt(ask task.Request) []llm.Message {
	o.asked(ask)
	return []llm.Message{{Role: llm.User, Content: "another"}}
}

func (*table) Parse(reply string) (string, error) { return reply, nil }

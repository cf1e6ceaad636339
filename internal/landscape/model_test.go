package landscape

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// replies returns the programs of the replies to an ask, for seeds from 0 on.
func replies(t *testing.T, m Model, of task.Task, ask task.Ask, n int) []string {
	t.Helper()
	var list []string
	for seed := range n {
		r, err := m.Generate(context.Background(), llm.Request{Messages: of.Prompt(ask), Seed: uint32(seed)})
		if err != nil {
			t.Fatal(err)
		}
		program, _ := of.Parse(r.Text)
		list = append(list, program)
	}
	return list
}

func wordsTask(t *testing.T, initial string) task.Task {
	t.Helper()
	of, err := task.New(task.Spec{Name: "words", Initial: initial,
		Evaluator: eval.Func(func(context.Context, string) (eval.Result, error) {
			return eval.Result{Valid: true}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func candidates(programs ...string) []eval.Candidate {
	var list []eval.Candidate
	for _, p := range programs {
		list = append(list, eval.Candidate{Program: p, Result: eval.Result{Valid: true, Score: 0.5}})
	}
	return list
}

// changed counts the words at which two programs differ. Programs of different forms differ in all.
func changed(a, b string) int {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return max(len(x), len(y))
	}
	n := 0
	for i := range x {
		if x[i] != y[i] {
			n++
		}
	}
	return n
}

const twoLines = "amber amber amber amber\namber amber amber amber"

func TestModelWithoutAbilitiesEditsTheFirstProgram(t *testing.T) {
	of := wordsTask(t, twoLines)
	other := strings.ReplaceAll(twoLines, "amber", "cedar")
	for _, tt := range []struct {
		reason string
		ask    task.Ask
	}{
		{"a plain rewrite", task.Ask{Parents: candidates(twoLines)}},
		{"a request for something different", task.Ask{Parents: candidates(twoLines),
			Instruction: "Write a program of a different kind."}},
		{"a request to combine", task.Ask{Parents: candidates(twoLines, other), Instruction: "Combine the programs."}},
		{"programs to be inspired by", task.Ask{Parents: candidates(twoLines),
			Sections: []task.Section{task.Inspirations(candidates(other, other)...)}}},
		{"notes", task.Ask{Parents: candidates(twoLines), Sections: []task.Section{task.Notes("Use p:birch.")}}},
		{"a request to mend line 1", task.Ask{Parents: candidates(twoLines), Instruction: "Mend line 1."}},
	} {
		for seed, program := range replies(t, Model{Words: 2}, of, tt.ask, 50) {
			if n := changed(program, twoLines); n > 3 || strings.Contains(program, "cedar") {
				t.Errorf("%s: seed %d changes %d words: %q", tt.reason, seed, n, program)
			}
		}
	}
}

func TestModelAbilities(t *testing.T) {
	other := strings.ReplaceAll(twoLines, "amber", "cedar")
	kinds := "p:amber p:amber q:amber q:amber"
	for _, tt := range []struct {
		reason  string
		model   Model
		ask     task.Ask
		obeyed  func(program string) bool
		no, yes int // how many of 100 replies have to be such with the ability, at least and at most
	}{
		{"something different is a line anew", Model{Words: 8, Bold: 1},
			task.Ask{Parents: candidates(twoLines), Instruction: "Write a program of a different kind."},
			func(p string) bool { return changed(p, twoLines) > 3 }, 40, 100},
		{"a splice brings lines of the other program", Model{Words: 2, Splice: 1},
			task.Ask{Parents: candidates(twoLines, other), Instruction: "Combine the programs."},
			func(p string) bool { return strings.Contains(p, "cedar cedar") }, 90, 100},
		{"a tenth of splices lose a word", Model{Words: 2, Splice: 1},
			task.Ask{Parents: candidates(twoLines, other), Instruction: "Combine the programs."},
			func(p string) bool { return len(strings.Fields(p)) == 7 }, 3, 20},
		{"borrowing takes a line of an inspiration", Model{Words: 2, Borrow: 1},
			task.Ask{Parents: candidates(twoLines), Sections: []task.Section{task.Inspirations(candidates(other)...)}},
			func(p string) bool { return strings.Contains(p, "cedar cedar cedar cedar") }, 100, 100},
		{"a note is heeded at a place of its kind", Model{Words: 3, Heed: 1},
			task.Ask{Parents: candidates(kinds), Sections: []task.Section{task.Notes("Use q:cedar.")}},
			func(p string) bool { return changed(p, kinds) == 1 && strings.Contains(p, "q:cedar") }, 100, 100},
		{"half of the notes with half of the heed", Model{Words: 3, Heed: 0.5},
			task.Ask{Parents: candidates(kinds), Sections: []task.Section{task.Notes("Use q:cedar.")}},
			func(p string) bool { return changed(p, kinds) == 1 && strings.Contains(p, "q:cedar") }, 40, 85},
		{"numbers alone are tuned", Model{Words: 8, Bold: 1},
			task.Ask{Parents: candidates("amber 0.5000 0.5000"), Instruction: "Change only the values of numeric constants."},
			func(p string) bool { return strings.HasPrefix(p, "amber ") }, 100, 100},
		{"another idea has default numbers", Model{Words: 8},
			task.Ask{Parents: candidates("amber 0.1000")},
			func(p string) bool { return strings.HasPrefix(p, "amber") || strings.HasSuffix(p, " 0.5000") }, 75, 100},
		{"the line that is named is mended", Model{Words: 2, Bold: 1},
			task.Ask{Parents: candidates("amber amber\namber amber amber"), Instruction: "Mend line 1."},
			func(p string) bool { return strings.HasPrefix(p, "amber amber amber\n") }, 60, 100},
		{"broken replies have nothing of the program", Model{Words: 2, Broken: 0.3},
			task.Ask{Parents: candidates(twoLines)}, func(p string) bool { return !strings.Contains(p, "amber") }, 15, 45},
		{"long prompts have broken replies", Model{Words: 2, Long: 5},
			task.Ask{Parents: candidates(twoLines)}, func(p string) bool { return !strings.Contains(p, "amber") }, 5, 60},
		{"each program is signed", Model{Words: 2, Signed: true},
			task.Ask{Parents: candidates(twoLines)}, func(p string) bool { return strings.Contains(p, "\n# ") }, 100, 100},
	} {
		n := 0
		for _, program := range replies(t, tt.model, wordsTask(t, twoLines), tt.ask, 100) {
			if tt.obeyed(program) {
				n++
			}
		}
		if n < tt.no || n > tt.yes {
			t.Errorf("%s: %d of 100 replies, want %d to %d", tt.reason, n, tt.no, tt.yes)
		}
	}
}

func TestModelFewReplies(t *testing.T) {
	distinct := func(ask task.Ask) int {
		seen := map[string]bool{}
		for _, p := range replies(t, Model{Words: 8, Few: 4}, wordsTask(t, twoLines), ask, 100) {
			seen[p] = true
		}
		return len(seen)
	}
	if n := distinct(task.Ask{Parents: candidates(twoLines)}); n > 4 {
		t.Errorf("%d distinct replies to one prompt, want at most 4", n)
	}
	a := replies(t, Model{Words: 8, Few: 4}, wordsTask(t, twoLines), task.Ask{Parents: candidates(twoLines)}, 4)
	b := replies(t, Model{Words: 8, Few: 4}, wordsTask(t, twoLines),
		task.Ask{Parents: candidates(twoLines), Sections: []task.Section{task.Notes("x")}}, 4)
	if reflect.DeepEqual(a, b) {
		t.Error("another prompt has the same replies")
	}
}

func TestModelInsights(t *testing.T) {
	question := `Attempts to raise the score, with the first line that each changed. Note what is new:

1. rewrite: "p:amber p:amber" became "p:birch p:amber"; score 0.3, +0.1 over its parent
2. rewrite: "p:amber p:amber" became "p:cedar p:amber"; score 0.2, -0.1 over its parent
3. rewrite: "p:amber p:amber" became "p:amber p:birch"; score 0.2, +0.1 over its parent
4. rewrite: "q:amber q:amber" became "q:amber q:delta"; score 0.4, +0.3 over its parent
`
	ask := func(m Model) string {
		r, err := m.Generate(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: question}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	if got, want := ask(Model{Insights: true}), "What has worked:\n\n- Use q:delta.\n- Use p:birch.\n"; got != want {
		t.Errorf("%q, want %q: the words that gained most on average", got, want)
	}
	if got := ask(Model{}); strings.Contains(got, "Use") {
		t.Errorf("without the ability it answers %q", got)
	}
}

// A model is plain numbers: it holds no func, no pointer and no interface through which a scorer could be reached.
func TestModelSeesNoScorer(t *testing.T) {
	of := reflect.TypeFor[Model]()
	for i := range of.NumField() {
		switch f := of.Field(i); f.Type.Kind() {
		case reflect.Int, reflect.Float64, reflect.Bool:
		default:
			t.Errorf("Model.%s is a %v: need a number or a bool", f.Name, f.Type)
		}
	}
	for _, f := range Families() {
		p, err := f.Make(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := p.LLM.(Model); !ok {
			t.Errorf("%s is asked of a %T: need a Model", f.Name, p.LLM)
		}
	}
}

func TestModelErrors(t *testing.T) {
	if _, err := (Model{}).Generate(context.Background(), llm.Request{}); err == nil ||
		!strings.HasPrefix(err.Error(), "landscape: ") {
		t.Errorf("a request without messages: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := (Model{}).Generate(ctx, llm.Request{Messages: []llm.Message{{Content: "x"}}})
	if err == nil || len(r.Attempts) != 0 {
		t.Errorf("after the end of its context: %v, %d attempts", err, len(r.Attempts))
	}
	r, err = (Model{}).Generate(context.Background(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}})
	if u := r.Attempts[0].Usage; err != nil || u.PromptTokens != 2 || u.CompletionTokens != (len(r.Text)+3)/4 {
		t.Errorf("usage %+v of a prompt of 6 bytes with its line end, and a reply of %d", u, len(r.Text))
	}
}

// A change that is shown to have brought nothing is mostly another one with Avoid, also where a piece of a long line is
// shown, and one that was better is made again.
func TestModelAvoids(t *testing.T) {
	of := wordsTask(t, "amber amber")
	count := func(m Model, line string) (n int) {
		ask := task.Ask{Parents: candidates("amber amber"), Sections: []task.Section{task.Attempts(line)}}
		for _, program := range replies(t, m, of, ask, 200) {
			if program == "birch amber" {
				n++
			}
		}
		return n
	}
	const whole, piece = `worse: "amber amber" became "birch amber"; score 0`,
		`as good: "amber am..." became "birch am..."; score 0`
	ignores, better := count(Model{Words: 2}, whole),
		count(Model{Words: 2, Avoid: 1}, strings.Replace(whole, "worse", "better", 1))
	avoids, also := count(Model{Words: 2, Avoid: 1}, whole), count(Model{Words: 2, Avoid: 1}, piece)
	if ignores < 20 || better < 20 || avoids > ignores/4 || also > ignores/4 {
		t.Errorf("of 200 replies %d have the change; %d where it was better, %d where it failed, %d where a piece is told",
			ignores, better, avoids, also)
	}
}

package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A memory shows a section.
type memory task.Section

func (m *memory) Section(*population.View) task.Section           { return task.Section(*m) }
func (m *memory) Learn(context.Context, *population.Season) error { return nil }

// What a session is shown beside the parent is bounded as a task's prompts are, with hints as these have them, and each
// section has its own title. Programs of sections are left out, and take nothing of a bound.
func TestSectionsInSessions(t *testing.T) {
	plain, dir := answers(t)
	attempts := task.Attempts("an old one became worse", "a\nnew\x1b[2J one became better")
	attempts.Programs = []eval.Candidate{{Program: strings.Repeat("secret ", 100), Result: eval.Result{Valid: true}}}
	sections := []population.Memory{(*memory)(&attempts),
		(*memory)(&task.Section{Name: task.ShowAreas, Title: "`Areas`", Lines: []string{"edges"}}),
		(*memory)(&task.Section{Name: "untitled", Lines: []string{"no title"}}), (*memory)(&task.Section{})}
	hints := task.HintsFunc(func(string) ([]task.Hint, error) { return []task.Hint{{Text: "a loop"}}, nil })
	for _, tt := range []struct {
		reason string
		task   task.Task
		want   string
	}{
		{"without bounds", plain, "\nEarlier attempts, and what became of them:\n- an old one became worse\n- a new one became better\n" +
			"\nAreas`:\n- edges\n\n- no title\n\nRaise its score.\n"},
		{"bounds", task.WithEvaluator(task.WithBounds(plain,
			task.Bounds{task.ShowAttempts: 8, task.ShowAreas: 0, "untitled": 0}), plain),
			"\nEarlier attempts, and what became of them:\n- a new one became better\n\nRaise its score.\n"},
		{"hints within bounds", task.WithHints(task.WithBounds(plain,
			task.Bounds{task.ShowAttempts: 0, task.ShowAreas: -1, "untitled": 1}), hints),
			"\nSeen in the text of the program, without running it:\n- a loop\n\nRaise its score.\n"},
	} {
		for name, first := range map[string]string{"a Loop": ofLoop(t, tt.task, sections),
			"a Command": ofCommand(t, tt.task, dir, sections)} {
			if !strings.HasSuffix(first, tt.want) || strings.Contains(first, "secret") ||
				strings.Count(first, ":\n- ") != strings.Count(tt.want, ":\n- ") {
				t.Errorf("%s, %s: asked with %q", tt.reason, name, first)
			}
		}
	}
}

// ofLoop returns the first message of a session.
func ofLoop(t *testing.T, tk task.Task, sections []population.Memory) string {
	s := &script{replies: []llm.Reply{answer(call("edit", `{"path":"answer.txt","new":"5\n"}`), call("submit", ""))}}
	made(t, tk, &agent.Loop{}, s, sections)
	return s.asked[0].Messages[1].Content
}

// ofCommand returns what an agent that is a program is asked for.
func ofCommand(t *testing.T, tk task.Task, dir string, sections []population.Memory) string {
	asked := filepath.Join(t.TempDir(), "asked")
	e, err := command.NewEditor(command.Config{Base: dir,
		Run: []string{"sh", "-c", "cat > " + asked + "; echo 5 > answer.txt"}, Isolation: isolation.None})
	if err != nil {
		t.Fatal(err)
	}
	made(t, tk, &agent.Command{Editor: e, Parse: agent.Claude, Own: llm.Model{Key: "agent"}}, &script{}, sections)
	text, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// made makes one child.
func made(t *testing.T, tk task.Task, o population.Operator, model llm.LLM, sections []population.Memory) {
	t.Helper()
	search, err := population.New(population.Config{Task: tk, LLM: model, N: 1, Operators: []population.Operator{o},
		Memory: sections})
	if err != nil {
		t.Fatal(err)
	}
	r, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{search}, Budget: evolve.Budget{Rounds: 1}})
	if err != nil || r.Best.Result.Score != 5 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// Notes of a search of its own are shown as they are, as long as the task has no bound for them.
func TestNotesOfMake(t *testing.T) {
	plain, _ := answers(t)
	notes := []string{strings.Repeat("wider ", 50) + "first", strings.Repeat("wider ", 50) + "second", "then\nlonger"}
	for i := range 20 {
		notes = append(notes, strings.Repeat("wider ", 60+i)+"too")
	}
	for want, tk := range map[string]task.Task{
		"\nLessons of earlier attempts:\n- " + strings.ReplaceAll(strings.Join(notes, "\n- "), "then\nlonger",
			"then longer"): plain,
		"\ntest.txt\n\nRaise its score.\n": task.WithBounds(plain, task.Bounds{task.ShowNotes: 0}),
	} {
		s := &script{replies: []llm.Reply{answer(call("edit", `{"path":"answer.txt","new":"5\n"}`), call("submit", ""))}}
		b := &evolve.Breeder{Task: tk, LLM: s}
		if _, err := b.Breed(t.Context(), nil, 1, func(int) evolve.Brief {
			return evolve.Brief{Make: (&agent.Loop{}).Make(tk, b.Best(), notes...)}
		}, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.asked[0].Messages[1].Content; !strings.Contains(got, want) {
			t.Errorf("asked with %q, want %q", got, want)
		}
	}
}

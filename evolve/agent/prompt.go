package agent

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// system returns the system message: what the task says, how the session works, and in the form of texts its tools. It
// is the same for all sessions of a search, so that endpoints can cache it.
func (s *session) system(t task.Task) string {
	var b strings.Builder
	b.WriteString(about(t))
	b.WriteString("You work on the program with tools: look at its files, edit them, and submit the program when it is " +
		"better. Only what you submit counts. There are two modes of evaluation:\n")
	fmt.Fprintf(&b, "- tune, by the tool try: a look at what the program scores as it is, perhaps on fewer cases. At "+
		"most %d in this session, out of a budget that all sessions share.\n", max(0, s.bounds.Tries))
	b.WriteString("- submit, by the tool submit: the session ends, and the program is evaluated once for real.\n")
	fmt.Fprintf(&b, "A session has at most %d replies, %d tokens and %v.\n", s.bounds.Calls, s.bounds.Tokens,
		s.bounds.Time)
	b.WriteString(s.folder.Rules())
	if s.Text {
		b.WriteString(textForm(s.tools()))
	}
	return b.String()
}

// first returns the first message: what there is, and what is asked for.
func (s *session) first(parent eval.Candidate, beside []task.Section) string {
	var b strings.Builder
	b.WriteString(scored(parent.Result))
	files := s.folder.Files(s.program)
	fmt.Fprintf(&b, "\nIt has %d files:\n%s", len(files), listed(files, ""))
	if len(files) == 1 {
		if text, err := s.folder.File(s.program, files[0]); err == nil && len(text) <= mostResult {
			fmt.Fprintf(&b, "\n%s\n", task.Fence(text, ""))
		}
	}
	b.WriteString(shown(s.task, parent, beside))
	b.WriteString("\n" + asked(s.Instruction) + "\n")
	return b.String()
}

// commandPrompt returns what an agent that is a program of its own is asked for.
func commandPrompt(t task.Task, parent eval.Candidate, instruction string, beside []task.Section, earlier bool) string {
	var b strings.Builder
	b.WriteString(about(t))
	b.WriteString("The program is in the working directory. Change its files there, and end when it is better. What the " +
		"files are when you end is scored.\n")
	b.WriteString(folderOf(t).Rules() + "\n")
	b.WriteString(scored(parent.Result))
	if earlier {
		b.WriteString("Earlier programs are in the folder earlier of your home directory, each with its score, or the " +
			"reason why it is not valid.\n")
	}
	b.WriteString(shown(t, parent, beside))
	b.WriteString("\n" + asked(instruction) + "\n")
	return b.String()
}

// about returns what the task says of itself.
func about(t task.Task) string {
	var b strings.Builder
	for _, m := range t.Prompt(task.Request{}) {
		if m.Role == llm.System {
			b.WriteString(m.Content + "\n\n")
		}
	}
	return b.String()
}

// scored returns what the parent's evaluation brought.
func scored(r eval.Result) string {
	if r = r.Clean(); r.Valid {
		return fmt.Sprintf("The program scores %.6f. Higher is better.\n", r.Score)
	}
	return fmt.Sprintf("The program is not valid: %s\n", r.Reason)
}

// shown returns what stands beside the parent: the lines of sections, each under its title, as the task's bounds and
// hints have them. Their programs are left out, and take nothing of a bound: those of the archive can be looked at.
func shown(t task.Task, parent eval.Candidate, sections []task.Section) string {
	ask := task.Asked(t, task.Request{Parents: []eval.Candidate{parent}, Sections: sections})
	ask.Sections = slices.Clone(ask.Sections)
	for i := range ask.Sections {
		ask.Sections[i].Programs = nil
	}
	var b strings.Builder
	for _, s := range ask.Shown() {
		b.WriteString("\n")
		if s.Title != "" {
			b.WriteString(s.Title + ":\n")
		}
		b.WriteString("- " + strings.Join(s.Lines, "\n- ") + "\n")
	}
	return b.String()
}

// lessons returns the section of notes that a search of its own shows. It is as long as they are, unless the task
// bounds it.
func lessons(notes []string) []task.Section {
	return []task.Section{{Name: task.ShowNotes, Title: "Lessons of earlier attempts", Lines: notes, Tokens: math.MaxInt}}
}

func asked(instruction string) string {
	if instruction != "" {
		return strings.TrimSpace(instruction)
	}
	return "Raise its score."
}

package agent

import (
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// system returns the system message: what the task says, how the session works, and in the form of texts its tools. It is
// the same for all sessions of a search, so that endpoints can cache it.
func (s *session) system(t task.Task) string {
	var b strings.Builder
	for _, m := range t.Prompt(task.Ask{}) {
		if m.Role == llm.System {
			b.WriteString(m.Content + "\n\n")
		}
	}
	b.WriteString("You work on the program with tools: look at its files, edit them, and submit the program when it is better. " +
		"Only what you submit counts. There are two modes of evaluation:\n")
	fmt.Fprintf(&b, "- tune, by the tool try: a look at what the program scores as it is, perhaps on fewer cases. At most %d "+
		"in this session, out of a budget that all sessions share.\n", max(0, s.bounds.Tries))
	b.WriteString("- submit, by the tool submit: the session ends, and the program is evaluated once for real.\n")
	fmt.Fprintf(&b, "A session has at most %d replies, %d tokens and %v.\n", s.bounds.Calls, s.bounds.Tokens, s.bounds.Time)
	if s.Text {
		b.WriteString(textForm(s.tools()))
	}
	return b.String()
}

// first returns the first message: what there is, and what is asked for.
func (s *session) first(parent eval.Candidate, notes []string) string {
	var b strings.Builder
	r := parent.Result.Clean()
	if r.Valid {
		fmt.Fprintf(&b, "The program scores %.6f. Higher is better.\n", r.Score)
	} else {
		fmt.Fprintf(&b, "The program is not valid: %s\n", r.Reason)
	}
	files := s.folder.Files(s.program)
	fmt.Fprintf(&b, "\nIt has %d files:\n%s", len(files), listed(files, ""))
	if len(files) == 1 {
		if text, err := s.folder.File(s.program, files[0]); err == nil && len(text) <= mostResult {
			fmt.Fprintf(&b, "\n%s\n", task.Fence(text, ""))
		}
	}
	for i, n := range notes {
		if i == 0 {
			b.WriteString("\nLessons of earlier attempts:\n")
		}
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(n), "\n", " ") + "\n")
	}
	b.WriteString("\n" + s.instruction() + "\n")
	return b.String()
}

func (s *session) instruction() string {
	if s.Instruction != "" {
		return strings.TrimSpace(s.Instruction)
	}
	return "Raise its score."
}

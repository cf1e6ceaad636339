package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/edit"
	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/llm"
)

// DefaultInstruction is the default prompt's instruction if [Request].Instruction is empty.
const DefaultInstruction = "Rewrite the program to raise its score."

// maxReason bounds the reason for an invalid program in the prompt, in bytes.
const maxReason = 500

// maxMetrics bounds the metrics of an inspiration in the prompt, in bytes.
const maxMetrics = 400

// Fence returns program as a block tagged with language, between fences longer than any run of backticks in it.
// [ParseProgram] restores it exactly, except that "\r\n" becomes "\n" and indentation that all lines share goes.
func Fence(program, language string) string { return fence.Wrap(program, language) }

// prompt is the default prompt, which [Spec] describes.
func prompt(s Spec, ask Request) []llm.Message {
	var b strings.Builder
	sections := ask.Shown()
	before := 0
	for before < len(sections) && sections[before].Stable {
		before++
	}
	for _, part := range sections[:before] {
		b.WriteString(section(s, ask, part))
	}
	if len(ask.Parents) == 0 {
		fmt.Fprintf(&b, "Current program:\n\n%s\n\n", shown(s, eval.Candidate{Program: s.Initial}, ask))
	}
	for i, p := range ask.Parents {
		r := p.Result.Clean()
		fmt.Fprintf(&b, "%s %s:\n\n%s\n\n", title(i, len(ask.Parents)), standing(r), shown(s, p, ask))
		b.WriteString(feedback(r, ask.bound(ShowFeedback, s.Feedback)))
	}
	for _, part := range sections[before:] {
		b.WriteString(section(s, ask, part))
	}
	b.WriteString(strings.TrimSpace(instruction(ask)))
	b.WriteString("\n")
	b.WriteString(which(ask, sections))
	if ask.Part != "" {
		fmt.Fprintf(&b, partFormat, ask.Part)
		return messages(s, b.String())
	}
	if s.marked() {
		b.WriteString(markersNote)
	}
	s.Diffs = ask.Form.diffs(s.Diffs)
	b.WriteString(format(s, len(ask.Parents)))
	return messages(s, b.String())
}

// partFormat is the format of a reply with one part; %q is its name.
const partFormat = "The part of it to change is %q; the others stay as they are.\nReply with the complete new text " +
	"of that part, and nothing else of the program, in one fenced block.\n"

// messages puts the system message before the user's.
func messages(s Spec, text string) []llm.Message {
	user := llm.Message{Role: llm.User, Content: text}
	if s.System == "" {
		return []llm.Message{user}
	}
	return []llm.Message{{Role: llm.System, Content: s.System}, user}
}

// section returns a section: its programs, and its lines in quoted ones, so that none of them opens a block.
func section(s Spec, ask Request, part Section) string {
	var b strings.Builder
	for i, p := range part.Programs {
		r := p.Result.Clean()
		fmt.Fprintf(&b, "Inspiration %d of %d, not to be changed, %s:\n\n%s\n\n", i+1, len(part.Programs), standing(r),
			shown(s, p, ask))
		b.WriteString(feedback(eval.Result{Metrics: r.Metrics}, ask.bound(ShowMetrics, min(s.Feedback, maxMetrics))))
	}
	if len(part.Lines) == 0 {
		return b.String()
	}
	if part.Title != "" {
		fmt.Fprintf(&b, "%s:\n\n", part.Title)
	}
	fmt.Fprintf(&b, "> %s\n\n", strings.Join(part.Lines, "\n> "))
	return b.String()
}

// which names the program to change if several are shown. A model that must guess often changes the last one, and its
// diff then matches nothing.
func which(ask Request, sections []Section) string {
	switch {
	case len(ask.Parents) > 1:
		return "The program to change is program 1.\n"
	case slices.ContainsFunc(sections, func(s Section) bool { return len(s.Programs) > 0 }):
		return "The program to change is the current program.\n"
	}
	return ""
}

// markersNote explains the markers of a program.
const markersNote = "Change only what stands between a line with EVOLVE-BLOCK-START and the next with " +
	"EVOLVE-BLOCK-END. " +
	"Keep these lines, and all outside of them, as they are.\n"

// diffFormat is the format of a reply in blocks; %s is the program that it changes.
const diffFormat = `Reply with nothing but the changes to %s, as one or more blocks of this form:

` + edit.SearchLine + `
lines of the program
` + edit.MiddleLine + `
lines to put in their place
` + edit.ReplaceLine + `

The lines after SEARCH have to be whole lines, copied exactly, indentation included, and as many as it takes to stand in the program once only. Blocks are applied in order.
`

// format returns the format of the reply, in words.
func format(s Spec, parents int) string {
	if s.Reply != "" {
		return strings.TrimRight(s.Reply, "\n") + "\n"
	}
	if s.Diffs && parents > 1 {
		return fmt.Sprintf(diffFormat, "program 1")
	}
	if s.Diffs {
		return fmt.Sprintf(diffFormat, "the program")
	}
	if s.Language == "" {
		return "Reply with one complete program in one fenced block.\n"
	}
	return fmt.Sprintf("Reply with one complete program in one fenced block tagged %s.\n", s.Language)
}

func instruction(ask Request) string {
	if strings.TrimSpace(ask.Instruction) == "" {
		return DefaultInstruction
	}
	return ask.Instruction
}

// shown returns the program of c as the prompt shows it.
func shown(s Spec, c eval.Candidate, ask Request) string {
	if s.Show != nil {
		return strings.TrimRight(s.Show(c, ask), "\n")
	}
	return Fence(strings.TrimRight(c.Program, "\r\n"), s.Language)
}

func title(i, n int) string {
	if n == 1 {
		return "Current program,"
	}
	return fmt.Sprintf("Program %d of %d,", i+1, n)
}

// standing returns the result of the evaluation in one line.
func standing(r eval.Result) string {
	if r.Valid {
		return fmt.Sprintf("with score %.6f (higher is better)", r.Score)
	}
	return "which is invalid: " + clip(oneLine(r.Reason), maxReason)
}

// feedback returns r's metrics and artifacts in at most limit bytes and a few for the frame.
func feedback(r eval.Result, limit int) string {
	if limit == 0 || len(r.Metrics)+len(r.Artifacts) == 0 {
		return ""
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(r.Metrics)) {
		fmt.Fprintf(&b, "%s: %.6g\n", oneLine(k), r.Metrics[k])
	}
	for _, k := range slices.Sorted(maps.Keys(r.Artifacts)) {
		fmt.Fprintf(&b, "%s:\n%s\n", oneLine(k), strings.TrimRight(r.Artifacts[k], "\r\n"))
	}
	lines := strings.Split(strings.TrimRight(clip(b.String(), limit), "\n"), "\n")
	return "> " + strings.Join(lines, "\n> ") + "\n\n"
}

// oneLine returns s with every run of white space as one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip returns s, or its beginning with "..." in n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := max(n-len("..."), 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

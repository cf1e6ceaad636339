package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Part is a named part of a prompt.
type Part struct{ Name, Text string }

const (
	headBegin = "--- part: "
	headEnd   = " ---"
)

// header is the line before a part's text.
func header(name string) string { return headBegin + name + headEnd }

// JoinParts returns the program of parts, with a line "--- part: NAME ---" before the text of each. A line of a text
// that resembles such a line gets a leading backslash, so that [SplitParts] restores the parts.
func JoinParts(parts []Part) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(header(p.Name))
		for line := range strings.SplitSeq(p.Text, "\n") {
			b.WriteString("\n")
			if looksLikeHeader(line) {
				b.WriteString(`\`)
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// SplitParts returns the parts of a program. It fails if there is text before the first part's line, or no such line.
func SplitParts(program string) ([]Part, error) {
	var parts []Part
	var lines []string
	end := func() {
		if len(parts) > 0 {
			parts[len(parts)-1].Text = strings.Join(lines, "\n")
		}
		lines = nil
	}
	for line := range strings.SplitSeq(program, "\n") {
		name, ok := headerName(line)
		switch {
		case ok:
			end()
			parts = append(parts, Part{Name: name})
		case len(parts) == 0 && strings.TrimSpace(line) != "":
			return nil, fmt.Errorf("the prompt begins with %.40q: need the line %q of the first part", line, header("NAME"))
		case looksLikeHeader(line):
			lines = append(lines, line[1:])
		default:
			lines = append(lines, line)
		}
	}
	if end(); len(parts) == 0 {
		return nil, fmt.Errorf("the prompt has no line %q", header("NAME"))
	}
	return parts, nil
}

// headerName returns the name in a header, which may have a Windows line end.
func headerName(line string) (name string, ok bool) {
	line = strings.TrimRight(line, " \t\r")
	name, ok = strings.CutPrefix(line, headBegin)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, headEnd)
}

// looksLikeHeader reports whether line is a header after any number of backslashes.
func looksLikeHeader(line string) bool {
	_, ok := headerName(strings.TrimLeft(line, `\`))
	return ok
}

// splitAs splits program into parts, which must have these names.
func splitAs(program string, names []string) ([]Part, error) {
	parts, err := SplitParts(program)
	if err != nil {
		return nil, err
	}
	if got := namesOf(parts); !slices.Equal(got, names) {
		return nil, fmt.Errorf("the prompt has the parts %.200q: need %q, in this order", got, names)
	}
	return parts, nil
}

func namesOf(parts []Part) []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	return names
}

// checkParts refuses names that a header cannot hold, and duplicate names.
func checkParts(parts []Part) error {
	seen := map[string]bool{}
	for i, p := range parts {
		name, ok := headerName(header(p.Name))
		switch {
		case p.Name == "" || !ok || name != p.Name || strings.ContainsAny(p.Name, "\r\n\"") || len(p.Name) > 100:
			return fmt.Errorf("Config.Parts[%d].Name is %.100q: need one line of at most 100 bytes, without quotes", i, p.Name)
		case seen[p.Name]:
			return fmt.Errorf("two of Config.Parts are named %q", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

// PartNames returns the names of a prompt's parts: "" alone for one without.
func (t *Task) PartNames(string) []string {
	if len(t.names) == 0 {
		return []string{""}
	}
	return slices.Clone(t.names)
}

// ParseReply reads a prompt out of a reply, or the new text of the part that was asked for. If the reply has the whole
// prompt then, with all parts, only that part is taken. It fails if the text of the part is what it was.
func (t *Task) ParseReply(r task.Reply) (program, mended string, err error) {
	if len(t.names) == 0 || r.Part == "" {
		return task.Parse(t.Task, r)
	}
	program, err = t.parsePart(r.Part, r.Parent, r.Text)
	return program, "", err
}

func (t *Task) parsePart(part, parent, reply string) (string, error) {
	parts, err := t.read(parent)
	if err != nil {
		return "", fmt.Errorf("text: %s: the parent: %w", t.Name(), err)
	}
	i := slices.Index(t.names, part)
	if i < 0 {
		return "", fmt.Errorf("text: %s: there is no part %q, but %q", t.Name(), part, t.names)
	}
	now, _, err := task.Reply{Text: reply, Parent: parts[i].Text}.Parse()
	if err != nil {
		return "", err
	}
	if all, err := SplitParts(now); err == nil {
		at := slices.IndexFunc(all, func(p Part) bool { return p.Name == part })
		if at < 0 {
			return "", fmt.Errorf("text: %s: the reply has the parts %.200q and not %q", t.Name(), namesOf(all), part)
		}
		now = all[at].Text
	}
	if strings.TrimSpace(now) == strings.TrimSpace(parts[i].Text) {
		return "", fmt.Errorf("%w: part %q is as it was", task.ErrUnchanged, part)
	}
	parts[i].Text = now
	return JoinParts(parts), nil
}

// placeholder stands for a case's input in a prompt.
const placeholder = "{input}"

// maxInputs is how often a prompt may have the placeholder. A prompt of 64 KiB could have it nine thousand times, and
// each input can be long.
const maxInputs = 16

// place is the default of Config.Messages.
func place(parts []Part, input string) []llm.Message {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	prompt := strings.Join(texts, "\n\n")
	if strings.Contains(prompt, placeholder) {
		return []llm.Message{{Role: llm.User, Content: strings.ReplaceAll(prompt, placeholder, input)}}
	}
	return []llm.Message{{Role: llm.System, Content: prompt}, {Role: llm.User, Content: input}}
}

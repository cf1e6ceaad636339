package tree

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/task"
)

// bytesPerToken is about how many bytes of source text a token takes.
const bytesPerToken = 4

// mapShare is the part of a prompt's files that the map of those which are not shown may take.
const mapShare = 8

// Bounds of the map.
const (
	mostSignatures = 8   // of a file
	mostSignature  = 120 // bytes of one
)

// show returns a candidate's tree as a prompt shows it. Of the first parent it shows the files that fit: those that the
// program changes, the one that is asked for, those that its evaluation named, then those that share names with these;
// and a map of the rest. Of others it shows what they change.
func (t *Task) show(c eval.Candidate, ask task.Request) string {
	p, err := t.read(c.Program)
	if err != nil {
		return "a program that does not fit the base\n"
	}
	first := len(ask.Parents) == 0 || c.Program == ask.Parents[0].Program
	var b strings.Builder
	b.WriteString(changesText(p))
	if !first {
		t.files(&b, p, p.Paths(), t.room()/4)
		return b.String()
	}
	left := t.files(&b, p, t.order(p, c.Result, ask.Part), t.room())
	b.WriteString(t.mapOf(p, left, t.room()/mapShare))
	return b.String()
}

// room returns how many bytes of a prompt files of the first parent take.
func (t *Task) room() int {
	room := t.cfg.Tokens * bytesPerToken
	return room - room/mapShare
}

// frame is more than what stands around a file in a prompt.
const frame = 2 * patch.MostName

// changesText says what a program changes.
func changesText(p patch.Patch) string {
	if len(p.Files)+len(p.Deleted) == 0 {
		return "The program is a tree of files, none of them changed so far.\n\n"
	}
	text := "The program is a tree of files."
	if len(p.Files) > 0 {
		text += " Changed so far: " + strings.Join(p.Paths(), ", ") + "."
	}
	if len(p.Deleted) > 0 {
		text += " Deleted: " + strings.Join(p.Deleted, ", ") + "."
	}
	return text + "\n\n"
}

// order returns the paths of the open files in the order in which they are shown. part comes first, if it is not "".
func (t *Task) order(p patch.Patch, r eval.Result, part string) []string {
	all := t.base.pathsIn(p)
	said := r.Reason
	for _, name := range slices.Sorted(maps.Keys(r.Artifacts)) {
		said += "\n" + r.Artifacts[name]
	}
	var first, named, rest []string
	for _, name := range all {
		_, changed := p.Files[name]
		switch {
		case name == part:
			first = slices.Insert(first, 0, name)
		case changed:
			first = append(first, name)
		case mentions(said, name):
			named = append(named, name)
		default:
			rest = append(rest, name)
		}
	}
	first = append(first, named...)
	t.base.index.with(p.Files).byRelation(first, rest)
	return append(first, rest...)
}

// mentions reports whether text names a file, by its path or as "name:".
func mentions(text, name string) bool {
	return text != "" && (strings.Contains(text, name) || strings.Contains(text, path.Base(name)+":"))
}

// files writes the texts of files as far as room bytes hold them, and returns the others.
func (t *Task) files(b *strings.Builder, p patch.Patch, names []string, room int) (left []string) {
	for _, name := range names {
		text, _ := t.base.textIn(p, name)
		shown := fmt.Sprintf("%s:\n\n%s\n\n", name, task.Fence(strings.TrimSuffix(text, "\n"),
			task.LanguageOf(path.Ext(name))))
		if len(shown) > room {
			left = append(left, name)
			continue
		}
		room -= len(shown)
		b.WriteString(shown)
	}
	return left
}

// mapOf returns a map of files that are not shown, in room bytes.
func (t *Task) mapOf(p patch.Patch, names []string, room int) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Files that are not shown, with what they define:\n\n")
	for i, name := range names {
		text, _ := t.base.textIn(p, name)
		line := fmt.Sprintf("> %s (%d bytes)", name, len(text))
		defined := definitions(name, text)
		for _, d := range defined[:min(len(defined), mostSignatures)] {
			signature := printable.Line(strings.TrimSpace(d.line))
			if len(signature) > mostSignature {
				signature = strings.ToValidUTF8(signature[:mostSignature], "") + "..."
			}
			line += "\n>     " + signature
		}
		if b.Len()+len(line) > room {
			fmt.Fprintf(&b, "> and %d more\n", len(names)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("\n")
	return b.String()
}

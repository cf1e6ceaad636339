package tree

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/edit"
	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/task"
)

// howToReply is what a prompt says of replies.
const howToReply = `Reply with nothing but the changes, file by file. Begin each file with a line that has "### " and its path. Then come blocks that change it:

### path/of/a/file
` + edit.SearchLine + `
lines of the file
` + edit.MiddleLine + `
lines to put in their place
` + edit.ReplaceLine + `

The lines after SEARCH have to be whole lines, copied exactly, indentation included, and as many as it takes to stand in the file once only. In their place may come the complete text of a new or rewritten file in one fenced block, or a line with DELETE alone, which deletes the file.
`

// deleteLine deletes a file.
const deleteLine = "DELETE"

// mostChanges is how many blocks, files and deletions of a reply are read.
const mostChanges = 512

// A change is what a reply says of one file.
type change struct {
	path   string
	text   string // blocks, or the whole file
	whole  bool
	delete bool
}

// answer returns what a reply makes of p.
func (t *Task) answer(p patch.Patch, reply string) (patch.Patch, error) {
	text := fence.WithoutThinking(strings.ReplaceAll(reply, "\r\n", "\n"))
	changes, err := t.changes(p, text)
	if err != nil {
		return p, err
	}
	if len(changes) == 0 {
		return t.wholeProgram(p, text)
	}
	made := p.Clone()
	for _, c := range changes {
		if err := t.apply(&made, c); err != nil {
			return p, err
		}
	}
	return made, nil
}

// wholeProgram reads a reply that gives a program as it is written in a journal, in the place of p.
func (t *Task) wholeProgram(p patch.Patch, text string) (patch.Patch, error) {
	for b := range fence.Blocks(text) {
		if now, err := patch.Parse(inBlock(b)); err == nil && now.Base == t.base.hash {
			return t.onto(p, now)
		}
	}
	return patch.Patch{}, fmt.Errorf("no line with a path is followed by a %s line, a fenced block or %s", edit.SearchLine,
		deleteLine)
}

// changes returns what text says file by file, in order. p is the tree that it changes.
func (t *Task) changes(p patch.Patch, text string) (all []change, err error) {
	r := newReplyReader(text, func(path string) bool {
		_, changed := p.Files[path]
		return changed || t.base.isPlain(path)
	})
	for r.at < len(r.lines) {
		c, ok, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case ok && len(all) == mostChanges:
			return nil, fmt.Errorf("it has more than %d changes", mostChanges)
		case ok:
			all = append(all, c)
		}
	}
	return all, nil
}

// A replyReader reads a reply line by line.
type replyReader struct {
	text  string
	lines []string
	begin []int // of each line in text
	at    int
	path  string // of the file that the lines are about; "" before the first
	used  bool   // something stood under path already, and only blocks may follow
	fence bool   // within a fence around blocks
	known func(path string) bool
}

func newReplyReader(text string, known func(path string) bool) *replyReader {
	r := &replyReader{text: text, lines: strings.Split(text, "\n"), known: known}
	at := 0
	for _, line := range r.lines {
		r.begin = append(r.begin, at)
		at += len(line) + 1
	}
	return r
}

// next reads what begins at the line at, and returns the change if there is one.
func (r *replyReader) next() (c change, ok bool, err error) {
	line := r.lines[r.at]
	switch bare := strings.TrimSpace(line); {
	case edit.SignOf(bare) == edit.Search:
		text, err := r.block()
		if err == nil && r.path == "" {
			err = errors.New("a SEARCH block stands under no path")
		}
		r.used = true
		return change{path: r.path, text: text}, true, err
	case isDelete(bare) && r.path != "" && !r.used:
		r.at++
		r.used = true
		return change{path: r.path, delete: true}, true, nil
	case edit.SignOf(bare) == edit.Replace:
		return change{}, false, fmt.Errorf("a line is %.80q, outside any block: a block begins with %s and ends with %s",
			bare, edit.SearchLine, edit.ReplaceLine)
	case isFence(line) && r.fence:
		r.at++
		r.fence = false
		return change{}, false, nil
	case isFence(line):
		return r.fenced()
	}
	r.at++
	switch path := r.pathOf(line); {
	case (r.known(path) || strings.ContainsAny(path, "./")) && r.begins(): // which reads on, so it comes last
		r.path, r.used = path, false
	case isHeading(line): // and what follows is about no file before it
		r.path = ""
	}
	return change{}, false, nil
}

// pathOf returns the path that a line names: all of it, or a word of it that is the path of a file that is there.
func (r *replyReader) pathOf(line string) string {
	if whole := strings.Trim(line, "#*`: \t"); r.known(whole) {
		return whole
	}
	if path := pathIn(line); path != "" || !isHeading(line) {
		return path
	}
	for _, w := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t()[]*`#:,\"'", c) }) {
		if r.known(w) {
			return w
		}
	}
	return ""
}

// isHeading reports whether a line is a heading, or bold from its beginning on.
func isHeading(line string) bool {
	bare := strings.TrimSpace(line)
	return strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, "**")
}

// block reads a SEARCH block.
func (r *replyReader) block() (string, error) {
	begin := r.at
	for r.at++; r.at < len(r.lines); r.at++ {
		switch edit.SignOf(r.lines[r.at]) {
		case edit.Replace:
			r.at++
			return strings.Join(r.lines[begin:r.at], "\n"), nil
		case edit.Search:
			return "", fmt.Errorf("a SEARCH block for %q is not closed: another begins in it", r.path)
		}
	}
	return "", fmt.Errorf("a SEARCH block for %q is not closed: the reply ends before a %s line", r.path, edit.ReplaceLine)
}

// fenced reads a fenced block: a whole file if a path stands before it or in its first line, or blocks around which a
// model has put a fence.
func (r *replyReader) fenced() (c change, ok bool, err error) {
	rest := r.text[r.begin[r.at]:]
	b, ok := fence.Leading(rest, task.LanguageOf(path.Ext(r.path)))
	if !ok {
		r.at++
		return change{}, false, nil
	}
	if slices.ContainsFunc(strings.Split(b.Text(), "\n"),
		func(l string) bool { return edit.SignOf(l) == edit.Search }) {
		r.at, r.fence = r.at+1, true // its lines are read one by one
		return change{}, false, nil
	}
	r.at += strings.Count(rest[:b.End], "\n")
	if !strings.HasSuffix(rest[:b.End], "\n") {
		r.at++
	}
	if i := strings.IndexAny(b.Info, " :"); i >= 0 && strings.ContainsAny(pathIn(b.Info[i+1:]), "./") {
		r.path, r.used = pathIn(b.Info[i+1:]), false
	}
	if r.path == "" || r.used {
		return change{}, false, nil // what a model says beside
	}
	if !b.Closed {
		return change{}, false, fmt.Errorf("the fenced block for %q is not closed", r.path)
	}
	r.used = true
	switch lang := strings.ToLower(b.Language()); {
	case isDelete(strings.TrimSpace(b.Text())):
		return change{path: r.path, delete: true}, true, nil
	case lang == "diff" || lang == "patch":
		return change{path: r.path, text: rest[:b.End]}, true, nil
	}
	return change{path: r.path, text: inBlock(b), whole: true}, true, nil
}

// begins reports whether a change begins at the next line that is not blank.
func (r *replyReader) begins() bool {
	for _, line := range r.lines[r.at:] {
		if bare := strings.TrimSpace(line); bare != "" {
			return edit.SignOf(bare) == edit.Search || isDelete(bare) || isFence(line)
		}
	}
	return false
}

// isDelete reports whether a line deletes a file.
func isDelete(bare string) bool { return strings.Trim(bare, "*`") == deleteLine }

func isFence(line string) bool {
	bare := strings.TrimLeft(line, " ")
	return strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")
}

// pathIn returns the path that a line consists of, without what dresses it up; "" if it is none.
func pathIn(line string) string {
	s := strings.TrimSpace(line)
	s = strings.Trim(s, "#*`:- \t")
	for _, label := range []string{"File:", "file:", "Path:", "path:"} {
		s = strings.Trim(strings.TrimPrefix(s, label), "*`: \t")
	}
	if s == "" || strings.ContainsAny(s, " \t\"'()<>=;,") {
		return ""
	}
	return strings.TrimPrefix(s, "./")
}

// apply makes a change. Files with EVOLVE-BLOCK markers change between them alone.
func (t *Task) apply(p *patch.Patch, c change) error {
	if err := t.checkPath(c.path); err != nil {
		return err
	}
	old, there := t.base.textIn(*p, c.path)
	switch {
	case c.delete && !there:
		return fmt.Errorf("%s cannot be deleted: it is not there", c.path)
	case c.delete && marked(old):
		return fmt.Errorf("%s cannot be deleted: it has EVOLVE-BLOCK markers", c.path)
	case c.delete:
		delete(p.Files, c.path)
		p.Deleted = append(p.Deleted, c.path)
		return nil
	case c.whole:
		return t.put(p, c.path, c.text)
	case !there:
		return fmt.Errorf("%s is not there: a SEARCH block cannot change it", c.path)
	}
	text := ""
	blocks, err := edit.Blocks(c.text)
	if err == nil {
		text, err = edit.Apply(old, blocks)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	if text == old {
		return nil
	}
	return t.put(p, c.path, ended(text))
}

// put gives a file of p a new text.
func (t *Task) put(p *patch.Patch, name, text string) error {
	if err := t.checkPath(name); err != nil {
		return err
	}
	if old, ok := t.base.textIn(*p, name); ok && marked(old) {
		kept, _, err := edit.Restore(old, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text = kept
	}
	if err := patch.CheckText(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.Deleted = slices.DeleteFunc(p.Deleted, func(d string) bool { return d == name })
	p.Files[name] = text
	return nil
}

func marked(text string) bool { return strings.Contains(text, "EVOLVE-BLOCK-START") }

// inBlock returns the text of a file that a block holds.
func inBlock(b fence.Block) string {
	if text := b.Text(); text != "" {
		return text + "\n"
	}
	return ""
}

// ended returns text with a line end at its end.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

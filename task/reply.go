package task

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/evoalloc/evoalloc/internal/edit"
	"github.com/evoalloc/evoalloc/internal/fence"
)

// A Reply is what a model wrote in answer to a [Request], with what it takes to read a program out of it. Only Text has to
// be set: the reply is then a complete program in any language.
//
//	program, _, err := task.Reply{Text: text, Parent: parent, Language: "python"}.Parse()
type Reply struct {
	Text     string // as the model wrote it, with its thinking
	Parent   string // the program that the model was asked to change; "" means none
	Form     Form   // the form that was asked for; 0 means one complete program, or what the task asks for
	Part     string // the named part that was asked for, see [Partitioner]; "" means the whole program
	Language string // the tag of blocks with programs: "python"; "" means any
	Marked   bool   // whether only what stands between EVOLVE-BLOCK lines of Parent may change, see [Spec]
}

// A Form is the form of a program in a reply.
type Form int

// The forms.
const (
	asTask  Form = iota // the task's own form
	AsWhole             // one complete program
	AsDiff              // changes to the first parent; a complete program is accepted too
	AsFirst             // the task's own form; of several programs the first, as the BaSE paper's code reads replies
)

// String names the form.
func (f Form) String() string {
	return [...]string{"AsTask", "AsWhole", "AsDiff", "AsFirst"}[f]
}

// diffs reports whether the form is diffs; byItself reports whether that is the task's own form.
func (f Form) diffs(byItself bool) bool { return f == AsDiff || byItself && f != AsWhole }

// ErrUnchanged means that a reply leaves the parent unchanged, so that an evaluation would show nothing new. Errors
// that wrap it give the details.
var ErrUnchanged = errors.New("task: the reply changes nothing")

// A ReplyParser is a [Task] that reads a reply by more than its text, such as the parent that it changes. The tasks of
// [New] are ReplyParsers. Call it through [Parse].
type ReplyParser interface {
	ParseReply(r Reply) (program, mended string, err error)
}

// Parse reads a reply as t does. It calls the ParseReply of t, or of the first task in its chain that is a
// [ReplyParser] ([As]), and without one t's Parse. So a wrapper that changes Parse and has an Unwrap needs a ParseReply
// too.
func Parse(t Task, r Reply) (program, mended string, err error) {
	if p, ok := As[ReplyParser](t); ok {
		return p.ParseReply(r)
	}
	program, err = t.Parse(r.Text)
	return program, "", err
}

// ParseProgram returns the first program in a text, which may be a prompt: that of a [Reply] without a Parent.
func ParseProgram(text, language string) (string, error) {
	program, _, err := Reply{Text: text, Language: language}.Parse()
	return program, err
}

// Parse returns the program in the reply. mended says in words what the reply left out and Parse put back, such as the
// EVOLVE-BLOCK markers; "" means nothing. err says why there is no program; it is [ErrUnchanged] if a diff, or a
// program of which a part alone may change, leaves Parent as it is.
//
// First "\r\n" becomes "\n" and the model's thinking is dropped: what stands between tags such as <think> and </think>,
// all of the rest if the tag is not closed, all before a closing tag whose opening one stood in the prompt, and all but
// harmony's final channel.
//
// A complete program is the text of a block: CommonMark's, with three or more backticks or tildes, an info string that
// may have attributes, and a closing fence at least as long. The last block may be unclosed, and a closing fence may
// stand alone. A fence within a string, a comment or brackets of the program does not end the block. Without a block all
// of the text is the program, but for sentences before one that defines a name that Parent defines.
//
// Models draft first and correct last. So of several blocks the last one counts that is whole: of all blocks it defines
// the most names that Parent defines, it differs from Parent, is not a piece of another block, has no comment in the
// place of code, is tagged with the language, and has at least half the length of Parent. Without a Parent, and with
// AsFirst, the first block of the language counts, or else of any. Indentation that all lines share is removed, unless
// Parent has some too.
//
// With AsDiff the reply has blocks, which are applied in order, each to the result of the previous ones:
//
//	<<<<<<< SEARCH
//	lines of the program
//	=======
//	lines to put in their place
//	>>>>>>> REPLACE
//
// They may vary in the number of signs, the case, the words and a colon, stand inside or outside of fences, or be the
// hunks of a unified diff, whose line numbers do not count. SEARCH is whole lines that occur in the program once, or
// differ from lines of one place in white space alone; the new lines then get the program's indentation. An empty
// REPLACE deletes them. Line ends do not count. "=======" within SEARCH or REPLACE is understood only if the program
// itself has such a line: the longest SEARCH that matches counts. A reply without blocks is a complete program in a
// fence. There may be 256 blocks, and a program may grow to 1 MiB, or to twice the parent's size if that is more.
//
// A program that has a NUL or is not UTF-8 is refused, as it could not be journaled faithfully. Parse takes time linear
// in the reply, for each block of a diff and for each of at most 32 programs, the last ones.
func (r Reply) Parse() (program, mended string, err error) {
	text := fence.WithoutThinking(strings.ReplaceAll(r.Text, "\r\n", "\n"))
	switch {
	case trim(text) != "":
		program, mended, err = r.read(text)
	case trim(r.Text) != "":
		err = errors.New("it is all thinking")
	default:
		err = errors.New("it is empty")
	}
	if err != nil && !errors.Is(err, ErrUnchanged) {
		err = fmt.Errorf("task: no program in the reply: %w", err)
	}
	return program, mended, err
}

func (r Reply) read(text string) (program, mended string, err error) {
	var blocks []edit.Block
	if r.Form == AsDiff {
		blocks, err = edit.Blocks(text)
	}
	if err == nil && len(blocks) == 0 {
		return r.whole(text)
	}
	if err == nil {
		program, err = edit.Apply(r.Parent, blocks)
	}
	if err != nil {
		return "", "", err
	}
	if trim(program) == "" {
		return "", "", errors.New("its blocks delete all of it")
	}
	return r.finish(program)
}

// finish checks a program, and restores what Marked protects.
func (r Reply) finish(program string) (_, mended string, err error) {
	made := program
	if r.Marked {
		lost := 0
		if made, lost, err = edit.Restore(r.Parent, program); err != nil {
			return "", "", err
		}
		if lost > 0 {
			mended = "the EVOLVE-BLOCK markers"
		}
	}
	switch same := sameLines(made, r.Parent); {
	case same && r.Marked && !sameLines(program, r.Parent) && mended == "":
		return "", "", fmt.Errorf("%w between the EVOLVE-BLOCK markers: what lies outside is kept as it was", ErrUnchanged)
	case same && (r.Marked || r.Form == AsDiff):
		return "", "", fmt.Errorf("%w: its program is the one it was shown", ErrUnchanged)
	}
	if err := checkText(made); err != nil {
		return "", "", err
	}
	return made, mended, nil
}

// sameLines reports whether two programs differ in line ends at most.
func sameLines(a, b string) bool {
	return strings.TrimRight(strings.ReplaceAll(a, "\r\n", "\n"), "\n") ==
		strings.TrimRight(strings.ReplaceAll(b, "\r\n", "\n"), "\n")
}

// whole reads a reply that is a complete program.
func (r Reply) whole(text string) (program, mended string, err error) {
	all, fenced := r.candidates(text)
	switch {
	case len(all) > 0:
		return r.choose(all)
	case fenced:
		return "", "", errors.New("its fenced blocks are empty")
	case r.Form == AsDiff:
		return "", "", errors.New("it has neither a " + edit.SearchLine + " line nor a fenced block")
	}
	return r.finish(trim(r.dedented(r.withoutTalk(text))))
}

// sentence matches a line of plain prose.
var sentence = regexp.MustCompile(`^[A-Z][\w']* [^={}\[\];#]*[.:!]$`)

// withoutTalk returns text without the sentences that it begins with, if what follows defines what Parent defines.
func (r Reply) withoutTalk(text string) string {
	rest := text
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		if line = trim(line); line != "" && !sentence.MatchString(line) {
			break
		}
		rest = after
	}
	names := definitions(r.Parent, r.Language)
	for name := range definitions(rest, r.Language) {
		if names[name] && r.Form != AsFirst {
			return rest
		}
	}
	return text
}

// dedented returns program without the indentation that all its lines share.
func (r Reply) dedented(program string) string {
	if r.Form == AsFirst {
		return program
	}
	return edit.Dedent(program, r.Parent)
}

// space is what trimming takes off: ASCII white space and the byte order mark.
const space = " \t\r\n\v\f\uFEFF"

func trim(s string) string { return strings.Trim(s, space) }

// maxCandidates bounds the programs of a reply that are compared.
const maxCandidates = 32

// A candidate is a text in a reply that may be the program.
type candidate struct {
	text   string
	tagged bool // with the language
	lead   bool // it stands before the first fence, which may be a closing one
	rank   int
}

// candidates returns the blocks of text that are not blank, and whether it has any fence.
func (r Reply) candidates(text string) (all []candidate, fenced bool) {
	var before string // the first fence, if it may be a closing one
	closed := true
	for b := range fence.Programs(text, r.Language) {
		if !fenced && b.Info == "" {
			before = text[:b.Begin]
		}
		fenced, closed = true, closed && b.Closed
		if t := b.Text(); trim(t) != "" {
			all = append(all, candidate{text: t, tagged: r.Language == "" || named(b.Language()) == named(r.Language)})
		}
	}
	if tag, rest, _ := strings.Cut(before, "\n"); r.Language != "" && named(trim(tag)) == named(r.Language) {
		before = rest
	}
	if trim(before) != "" && !closed && (len(all) == 0 || r.Parent != "") {
		all = append([]candidate{{text: strings.TrimRight(before, "\n"), lead: true}}, all...)
	}
	return all, fenced
}

// choose returns the program that one of all makes.
func (r Reply) choose(all []candidate) (program, mended string, err error) {
	if r.Parent == "" || r.Form == AsFirst || len(all) == 1 {
		first := all[0]
		for _, c := range all {
			if c.tagged {
				first = c
				break
			}
		}
		return r.finish(r.dedented(first.text))
	}
	all = all[max(0, len(all)-maxCandidates):]
	var best []candidate
	longest := 0
	names := definitions(r.Parent, r.Language)
	for i, c := range all {
		made, _, wrong := r.finish(r.dedented(c.text))
		if wrong != nil {
			err = wrong
			continue
		}
		c.rank = r.rank(c, made, all, names)
		if len(best) > 0 && c.rank > best[0].rank {
			best, longest = best[:0], 0
		}
		if all[i] = c; len(best) == 0 || c.rank == best[0].rank {
			best, longest = append(best, c), max(longest, len(c.text))
		}
	}
	for i := len(best) - 1; i >= 0; i-- {
		if 2*len(best[i].text) >= min(longest, len(r.Parent)) {
			return r.finish(r.dedented(best[i].text))
		}
	}
	return "", "", err
}

// rank says how much like a whole program c is, of which the program made came.
func (r Reply) rank(c candidate, made string, all []candidate, names map[string]bool) (rank int) {
	for name := range definitions(made, r.Language) {
		if names[name] {
			rank += 16
		}
	}
	if c.lead && rank == 0 {
		return -1 // prose
	}
	text := trim(c.text)
	part := false // of another
	for _, other := range all {
		part = part || len(text) < len(trim(other.text)) && strings.Contains(other.text, text)
	}
	for i, good := range []bool{c.tagged, !elided.MatchString(text), !part, !sameLines(made, r.Parent)} {
		if good {
			rank += 1 << i
		}
	}
	return rank
}

package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/edit"
	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/llm"
)

// A Spec is a task with the default prompt and the default parser; [New] makes the [Task].
//
// The prompt is the system message and one user message, with the sections that are stable ([Request.Shown]), every parent,
// the other sections, and the instruction, in this order. If it shows several programs, it names the one to change. A
// parent is its score to six decimals, or in one line of at most 500 bytes the reason why it is invalid; its program in
// a block made by [Fence], without line ends at its end; and Feedback's metrics and artifacts, sorted by name, in
// quoted lines ("> "), so that nothing but programs stands in blocks. So is the program of a section, with its metrics
// alone. Without parents it shows the initial program. The parser is [Reply]'s.
//
// If Initial has lines with EVOLVE-BLOCK-START and EVOLVE-BLOCK-END in comments, the model may change only the lines
// between them. The prompt says so, and what lies outside of them is restored to the byte, even if a reply leaves
// markers out, as long as the text around the blocks says where they stand. A reply without changes between them is
// [ErrUnchanged].
//
// The task is a [ReplyParser]; its Parse uses the initial program as the parent.
type Spec struct {
	// Name is the task's name in flags, paths and tables: letters, digits, "-", "_" and "." after the first, at most 100
	// bytes. Required.
	Name string
	// Language is the tag of blocks with programs: "javascript", "python". "" means untagged blocks, and accepts any block
	// of a reply.
	Language string
	// System is the system message, which explains what the program must do; "" means none.
	System string
	// Initial is the program that every search starts from. Required.
	Initial string
	// Ext is the ending of files with a program, with its dot: ".js". "" means that of Language, or ".txt" for an unknown
	// language.
	Ext string
	// Evaluator scores programs. Required.
	Evaluator eval.Evaluator
	// Feedback bounds the bytes of each parent's metrics and artifacts in the prompt, cut with "..."; 0 means none.
	Feedback int
	// Diffs means that the prompt asks for changes to the first parent instead of a complete program. A complete program
	// is accepted too.
	Diffs bool
	// Show returns a candidate's program as the prompt shows it, and Reply says there how to reply; nil and "" mean a
	// block made by Fence, and what Diffs and the Request's form call for. They are for a task whose programs are more than
	// one text, which reads replies by itself. Equal arguments must have equal texts.
	Show  func(c eval.Candidate, ask Request) string
	Reply string
	// IgnoreMarkers makes EVOLVE-BLOCK lines comments like any other.
	IgnoreMarkers bool
}

// New returns the task of s. It fails if a field is missing or wrong, naming the value.
func New(s Spec) (Task, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	s.Ext = cmp.Or(s.Ext, fence.Ext(s.Language))
	return &spec{s.Evaluator, s, s.marked()}, nil
}

func (s Spec) validate() error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(s.Initial) == "":
		return fmt.Errorf("task: %s: Spec.Initial is empty: a search needs a program to start from", s.Name)
	case s.Evaluator == nil:
		return fmt.Errorf("task: %s: Spec.Evaluator is nil", s.Name)
	case strings.ContainsFunc(s.Language, unfitForTag):
		return fmt.Errorf("task: %s: Spec.Language is %q: need one word", s.Name, s.Language)
	case s.Ext != "" && !fitExt(s.Ext):
		return fmt.Errorf("task: %s: Spec.Ext is %q: need a file ending such as \".js\"", s.Name, s.Ext)
	case s.Feedback < 0:
		return fmt.Errorf("task: %s: Spec.Feedback is %d: need 0 for none, or more", s.Name, s.Feedback)
	}
	if err := checkText(s.Initial); err != nil {
		return fmt.Errorf("task: %s: Spec.Initial: %w", s.Name, err)
	}
	if err := checkText(s.System); err != nil {
		return fmt.Errorf("task: %s: Spec.System: %w", s.Name, err)
	}
	if _, err := edit.Marked(s.Initial); err != nil && !s.IgnoreMarkers {
		return fmt.Errorf("task: %s: the EVOLVE-BLOCK markers of Spec.Initial: %w (IgnoreMarkers takes them for comments)",
			s.Name, err)
	}
	return nil
}

// marked reports whether Initial has blocks that are enforced.
func (s Spec) marked() bool {
	marked, err := edit.Marked(s.Initial)
	return marked && err == nil && !s.IgnoreMarkers
}

// checkName returns an error if name cannot be one element of a path.
func checkName(name string) error {
	const need = "need letters and digits, with -, _ and . after the first"
	switch {
	case name == "":
		return errors.New("task: Spec.Name is empty: " + need)
	case len(name) > 100:
		return fmt.Errorf("task: Spec.Name is %d bytes long: need at most 100", len(name))
	case strings.ContainsFunc(name, unfitForName) || strings.Trim(name[:1], "-_.") == "" ||
		strings.HasSuffix(name, ".") || !filepath.IsLocal(name):
		return fmt.Errorf("task: Spec.Name is %q: %s", name, need)
	}
	return nil
}

func unfitForName(r rune) bool {
	return r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}

// unfitForTag reports whether r would make an info string more than one word, or end its line.
func unfitForTag(r rune) bool {
	return r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+#-_", r)
}

// fitExt reports whether ext is a dot followed by characters fit for a file's name.
func fitExt(ext string) bool {
	return len(ext) >= 2 && len(ext) <= 32 && ext[0] == '.' && checkName(ext[1:]) == nil
}

// checkText returns an error if s would not survive a round trip through JSON.
func checkText(s string) error {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return fmt.Errorf("byte %d is NUL", i)
	}
	if utf8.ValidString(s) {
		return nil
	}
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
			return fmt.Errorf("byte %d is %#x, which is not UTF-8", i, s[i])
		}
	}
	return nil
}

// A spec is the task of a Spec.
type spec struct {
	eval.Evaluator
	s      Spec
	marked bool
}

var (
	_ Task         = (*spec)(nil)
	_ ReplyParser  = (*spec)(nil)
	_ eval.Sampler = (*spec)(nil)
)

// EvaluateSample passes the sample's number on to the evaluator.
func (t *spec) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	return eval.EvaluateSample(ctx, t.Evaluator, program, sample)
}

func (t *spec) Name() string                     { return t.s.Name }
func (t *spec) Initial() string                  { return t.s.Initial }
func (t *spec) Ext() string                      { return t.s.Ext }
func (t *spec) Prompt(ask Request) []llm.Message { return prompt(t.s, ask) }
func (t *spec) Parse(reply string) (string, error) {
	program, _, err := t.ParseReply(Reply{Text: reply, Parent: t.s.Initial})
	return program, err
}

// ParseReply reads a reply in the form that the task has for it.
func (t *spec) ParseReply(r Reply) (program, mended string, err error) {
	if r.Form.diffs(t.s.Diffs) {
		r.Form = AsDiff
	}
	r.Language, r.Marked = t.s.Language, t.marked
	return r.Parse()
}

// String names the task and its language.
func (t *spec) String() string {
	if t.s.Language == "" {
		return fmt.Sprintf("Task(%s)", t.s.Name)
	}
	return fmt.Sprintf("Task(%s, %s)", t.s.Name, t.s.Language)
}

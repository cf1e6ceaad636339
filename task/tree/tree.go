// Package tree makes a folder of files a task. Its program is the text of what differs from the folder: whole files in
// txtar form, and the names of those that are deleted, sorted. Equal trees are equal programs, so what works on
// programs works on trees: the journal, the memory of scores, likeness, merges. Each file is a part that a search can
// change by itself.
//
//	base 3f2a9c1b00d4e5f6
//	delete pkg/old.go
//	-- pkg/sum.go --
//	package pkg
//	...
//
// The base's hash stands in the task's name and in every program, so a run does not go on with another base.
package tree

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/task"
)

// A Task is a folder to improve. It is safe for concurrent use.
type Task struct {
	task.Task // what asks for a program and evaluates one
	cfg       Config
	open      []patch.Pattern
	frozen    []patch.Pattern
	base      *base
	initial   string
}

var (
	_ task.Task        = (*Task)(nil)
	_ task.ReplyParser = (*Task)(nil)
	_ task.Partitioner = (*Task)(nil)
	_ eval.Sampler     = (*Task)(nil)
)

// programExt is the ending of files with a program.
const programExt = ".txtar"

// New reads the base, of which at least one file has to be open.
func New(cfg Config) (*Task, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	t := &Task{cfg: cfg}
	if t.open, err = patterns("Open", cfg.Open); err != nil {
		return nil, err
	}
	if t.frozen, err = patterns("Frozen", cfg.Frozen); err != nil {
		return nil, err
	}
	if t.base, err = readBase(cfg.Base, t.mayChange); err != nil {
		return nil, err
	}
	for _, name := range cfg.Frozen {
		if kind, there := t.base.kind[name]; !strings.ContainsAny(name, "*?") && (!there || kind == patch.Folder) {
			return nil, fmt.Errorf("tree: Config.Frozen has %q, which is no file of %s, and freezes nothing: a folder's files "+
				"are %q",
				name, cfg.Base, name+"/**")
		}
	}
	if len(t.base.text) == 0 {
		return nil, fmt.Errorf("tree: no text file of %s is open: Config.Open is %q, and Frozen %q", cfg.Base, cfg.Open,
			cfg.Frozen)
	}
	t.initial = patch.Patch{Base: t.base.hash}.String()
	t.Task, err = task.New(task.Spec{
		Name: cfg.Name + "-" + t.base.hash[:12], System: cfg.About, Initial: t.initial, Ext: programExt, IgnoreMarkers: true,
		Evaluator: cfg.Evaluator, Feedback: max(cfg.Feedback, 0), Show: t.show, Reply: howToReply,
	})
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	return t, nil
}

// mayChange reports whether a file with the path may be changed.
func (t *Task) mayChange(path string) bool {
	return patch.AnyMatches(t.open, path) && !patch.AnyMatches(t.frozen, path)
}

// Ext returns the ending of files with a program.
func (t *Task) Ext() string { return programExt }

// Base returns the hash of the base, by which programs name it.
func (t *Task) Base() string { return t.base.hash }

// Evaluate evaluates a program by Config.Evaluator. One that changes what may not change is invalid.
func (t *Task) Evaluate(ctx context.Context, program string) (eval.Result, error) {
	return t.EvaluateSample(ctx, program, 0)
}

// EvaluateSample makes the evaluation with this number.
func (t *Task) EvaluateSample(ctx context.Context, program string, sample int) (eval.Result, error) {
	if _, err := t.read(program); err != nil {
		return eval.Invalid("%s", err), nil
	}
	return eval.EvaluateSample(ctx, t.cfg.Evaluator, program, sample)
}

// Parse reads a reply to the initial program.
func (t *Task) Parse(reply string) (string, error) {
	program, _, err := t.ParseReply(task.Reply{Text: reply, Parent: t.initial})
	return program, err
}

// ParseReply returns what a reply makes of its Parent: changes file by file, or the new text of the file that Part
// names. A reply that changes what may not change has no program, nor one that changes nothing ([task.ErrUnchanged]).
func (t *Task) ParseReply(r task.Reply) (program, mended string, err error) {
	p, err := t.read(r.Parent)
	if err != nil {
		return "", "", fmt.Errorf("tree: the parent: %w", err)
	}
	made := p.Clone()
	if r.Part == "" {
		made, err = t.answer(p, r.Text)
	} else if program, err = t.partIn(p, r); err == nil {
		err = t.put(&made, r.Part, ended(program))
	}
	if err != nil {
		return "", "", fmt.Errorf("tree: no program in the reply: %w", err)
	}
	program, err = t.finish(r.Parent, made)
	return program, "", err
}

// partIn returns the new text of a file of p.
func (t *Task) partIn(p patch.Patch, r task.Reply) (string, error) {
	old, _ := t.base.textIn(p, r.Part)
	text, _, err := task.Reply{Text: r.Text, Parent: old, Language: task.LanguageOf(path.Ext(r.Part))}.Parse()
	return text, err
}

// finish returns the text of what was made of parent.
func (t *Task) finish(parent string, made patch.Patch) (string, error) {
	t.normalize(&made)
	if err := t.check(made); err != nil {
		return "", fmt.Errorf("tree: no program in the reply: %w", err)
	}
	program := made.String()
	_, err := patch.Parse(program)
	switch {
	case err != nil: // paths that exclude each other
		return "", fmt.Errorf("tree: no program in the reply: %w", err)
	case program == parent:
		return "", fmt.Errorf("%w: its tree is the one it was shown", task.ErrUnchanged)
	case len(program) > mostBytes:
		return "", fmt.Errorf("tree: no program in the reply: its changes take %d bytes: need at most %d", len(program),
			mostBytes)
	}
	return program, nil
}

// PartNames returns the paths of a program's open files, but for those that a prompt cannot hold.
func (t *Task) PartNames(program string) []string {
	p, err := t.read(program)
	if err != nil {
		p = patch.Patch{}
	}
	all := t.base.pathsIn(p)
	fits := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		text, _ := t.base.textIn(p, name)
		return len(text) > t.room()-frame
	})
	if len(fits) == 0 {
		return all // there is at least one part
	}
	return fits
}

// Changes returns what a program changes: the texts of new and changed files by path, and the paths of deleted ones.
func (t *Task) Changes(program string) (files map[string]string, deleted []string, err error) {
	p, err := t.read(program)
	return p.Files, p.Deleted, err
}

// String names the task and its base.
func (t *Task) String() string { return fmt.Sprintf("tree.Task(%s)", t.Name()) }

// read returns the changes that program is.
func (t *Task) read(program string) (patch.Patch, error) {
	p, err := patch.Parse(program)
	if err != nil {
		return p, err
	}
	if p.Base != t.base.hash {
		return p, fmt.Errorf("the program is of the base %s, and not of %s", p.Base, t.base.hash)
	}
	if len(program) > mostBytes {
		return p, fmt.Errorf("the changes take %d bytes: need at most %d", len(program), mostBytes)
	}
	return p, t.check(p)
}

// normalize takes out what is as in the base.
func (t *Task) normalize(p *patch.Patch) {
	for name, text := range p.Files {
		if old, ok := t.base.text[name]; ok && old == text {
			delete(p.Files, name)
		}
	}
	p.Deleted = slices.DeleteFunc(p.Deleted, func(name string) bool { return !t.base.isPlain(name) })
	slices.Sort(p.Deleted)
	p.Deleted = slices.Compact(p.Deleted)
}

// check checks what p changes against the rules of the task.
func (t *Task) check(p patch.Patch) error {
	if n := len(p.Files) + len(p.Deleted); n > mostFiles {
		return fmt.Errorf("it changes %d files: need at most %d", n, mostFiles)
	}
	for _, name := range slices.Concat(p.Paths(), p.Deleted) {
		if err := t.checkPath(name); err != nil {
			return err
		}
	}
	return nil
}

// checkPath returns an error unless the file called name may be changed.
func (t *Task) checkPath(name string) error {
	if err := patch.CheckPath(name); err != nil {
		return err
	}
	switch twin, ok := t.base.twin(name); {
	case ok:
		return fmt.Errorf("%s is %s where case does not count", name, twin)
	case patch.AnyMatches(t.frozen, name):
		return fmt.Errorf("%s is frozen: it may not be changed", name)
	case !patch.AnyMatches(t.open, name):
		return fmt.Errorf("%s is not open: %s may be changed", name, strings.Join(t.cfg.Open, ", "))
	}
	if _, text := t.base.text[name]; !text {
		if _, there := t.base.kind[name]; there {
			return fmt.Errorf("%s is no text file, which alone can be changed", name)
		}
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if kind, there := t.base.kind[dir]; there && kind != patch.Folder {
			return fmt.Errorf("%s, on the way to %s, is no folder", dir, name)
		}
	}
	return nil
}

package agent

import (
	"fmt"

	"github.com/evoalloc/evoalloc/task"
)

// A Folder is a task whose programs are several files, such as tree.Task. A session reads and changes them one by one.
// A program of any other task is one file, called "program" with the task's ending.
type Folder interface {
	// Files returns the paths of a program's files, sorted.
	Files(program string) []string
	// File returns the text of a file.
	File(program, path string) (string, error)
	// WithFile returns program with the text of a file, WithoutFile without one. They fail if the file may not be changed,
	// and with [task.ErrUnchanged] if nothing changes.
	WithFile(program, path, text string) (string, error)
	WithoutFile(program, path string) (string, error)
	// Canonical returns a program that something else made of parent as the task writes it, and fails as WithFile does. It
	// leaves out new files that may not be made, and left says why each was.
	Canonical(parent, program string) (made string, left []string, err error)
	// Rules says which files may be changed, for a prompt, with an end of the last line; "" means all.
	Rules() string
}

// folderOf returns the files of a task's programs.
func folderOf(t task.Task) Folder {
	if f, ok := task.As[Folder](t); ok {
		return f
	}
	return single{t, "program" + task.Ext(t)}
}

// A single is the one file of a program.
type single struct {
	task.Task
	name string
}

func (s single) Files(string) []string { return []string{s.name} }

func (s single) File(program, path string) (string, error) { return program, s.check(path) }

// WithFile lets the task read the text as a reply, so that what it keeps, lines outside of EVOLVE-BLOCK markers, is
// kept.
func (s single) WithFile(program, path, text string) (string, error) {
	if err := s.check(path); err != nil {
		return "", err
	}
	made, _, err := s.Canonical(program, text)
	return made, err
}

func (s single) Canonical(parent, program string) (made string, left []string, err error) {
	made, _, err = task.Parse(s.Task, task.Reply{Text: task.Fence(program, task.LanguageOf(task.Ext(s.Task))),
		Parent: parent, Form: task.AsWhole})
	return made, nil, err
}

func (s single) Rules() string { return "" }

func (s single) WithoutFile(string, string) (string, error) {
	return "", fmt.Errorf("%s is the program: it cannot be deleted", s.name)
}

func (s single) check(path string) error {
	if path != s.name {
		return fmt.Errorf("there is no file %.200q: the program is %s", path, s.name)
	}
	return nil
}

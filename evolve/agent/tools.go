package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A tool is what a model may call. do returns what the model is told; its error ends the run.
type tool struct {
	llm.Tool
	offered func(*session) bool // nil means always
	do      func(*session, context.Context, arguments) (string, error)
}

// arguments are those of all tools. What a call leaves out is zero.
type arguments struct {
	Path    string `json:"path"`
	From    int    `json:"from"`
	Lines   int    `json:"lines"`
	Pattern string `json:"pattern"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Delete  bool   `json:"delete"`
	Command string `json:"command"`
	Of      *int   `json:"of"` // an earlier program
}

// earlierProgram is a property of tools that look at files.
const earlierProgram = `,"of":{"type":"integer","description":` +
	`"number of an earlier program; left out: the one you edit"}`

// toolbox has all tools, in the order in which a model is shown them.
var toolbox = []tool{
	{Tool: llm.Tool{Name: "list", Description: "List the paths of the program's files that begin with path.",
		Parameters: object(`"path":{"type":"string","description":"beginning of the paths; empty for all"}` +
			earlierProgram)},
		do: (*session).list},
	{Tool: llm.Tool{Name: "read", Description: "Read lines of a file.",
		Parameters: object(`"path":{"type":"string"},"from":{"type":"integer","description":"first line, from 1"},`+
			`"lines":{"type":"integer","description":"how many; 0 for all"}`+earlierProgram, "path")},
		do: (*session).read},
	{Tool: llm.Tool{Name: "search", Description: "Find lines by a regular expression (RE2), in the files whose paths " +
		"begin with path.",
		Parameters: object(`"pattern":{"type":"string"},"path":{"type":"string"}`+earlierProgram, "pattern")},
		do: (*session).search},
	{Tool: llm.Tool{Name: "earlier", Description: "List earlier programs of the search by number, with their scores, or " +
		"why they are not valid.", Parameters: object("")},
		offered: func(s *session) bool { return len(s.earlier) > 0 }, do: (*session).earlierPrograms},
	{Tool: llm.Tool{Name: "edit", Description: "Change a file: old must stand in it exactly once, and new takes its " +
		"place. Without old, new is the whole text of a file, which may be a new one. With delete the file is deleted.",
		Parameters: object(`"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},`+
			`"delete":{"type":"boolean"}`, "path")},
		do: (*session).edit},
	{Tool: llm.Tool{Name: "run", Description: "Run a line of a shell in a copy of the program's files, without a " +
		"network. What it changes there is lost.",
		Parameters: object(`"command":{"type":"string"}`, "command")},
		offered: func(s *session) bool { return s.Shell != nil }, do: (*session).shell},
	{Tool: llm.Tool{Name: "try", Description: "Evaluate the program as it is now, in the mode tune.",
		Parameters: object("")},
		offered: func(s *session) bool { return s.bounds.Tries > 0 }, do: (*session).try},
	{Tool: llm.Tool{Name: "submit", Description: "End the session and submit the program as it is now, in the mode " +
		"submit.",
		Parameters: object("")},
		do: (*session).submit},
}

// object returns the JSON schema of an object with properties.
func object(properties string, required ...string) string {
	names, _ := json.Marshal(append([]string{}, required...))
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s}`, properties, names)
}

// tools returns those that the session has.
func (s *session) tools() (list []llm.Tool) {
	for _, t := range toolbox {
		if t.offered == nil || t.offered(s) {
			list = append(list, t.Tool)
		}
	}
	return list
}

// call does what a call asks for, and returns what the model is told of it. Whatever a model writes into a call costs
// that call alone.
func (s *session) call(ctx context.Context, c llm.ToolCall) (string, error) {
	for _, t := range toolbox {
		if t.Name != c.Name || t.offered != nil && !t.offered(s) {
			continue
		}
		var args arguments
		if text := strings.TrimSpace(c.Arguments); text != "" {
			d := json.NewDecoder(bytes.NewReader([]byte(text)))
			d.DisallowUnknownFields()
			if err := d.Decode(&args); err != nil {
				return s.told(c, fmt.Sprintf("error: the arguments are not what %s takes: %v", c.Name, err)), nil
			}
		}
		result, err := t.do(s, ctx, args)
		return s.told(c, result), err
	}
	return s.told(c, fmt.Sprintf("error: there is no tool %.100q", c.Name)), nil
}

// told adds a call and what came of it to the transcript.
func (s *session) told(c llm.ToolCall, result string) string {
	s.work.Note(fmt.Sprintf("%.100s %.600s: %.1200s", c.Name, strings.TrimSpace(c.Arguments), result))
	return result
}

func (s *session) list(_ context.Context, a arguments) (string, error) {
	text, err := s.of(a.Of)
	if err != nil {
		return "error: " + err.Error(), nil
	}
	return listed(s.folder.Files(text), a.Path), nil
}

// listed returns the paths that begin with prefix, a line each.
func listed(files []string, prefix string) string {
	const most = 400
	var b strings.Builder
	n := 0
	for _, f := range files {
		if !strings.HasPrefix(f, prefix) {
			continue
		}
		if n++; n <= most {
			b.WriteString(f + "\n")
		}
	}
	return counted(&b, n, most)
}

// counted returns what b has of n lines, of which it has at most so many.
func counted(b *strings.Builder, n, most int) string {
	switch {
	case n == 0:
		return "none\n"
	case n > most:
		fmt.Fprintf(b, "... and %d more\n", n-most)
	}
	return b.String()
}

func (s *session) read(_ context.Context, a arguments) (string, error) {
	text, err := s.of(a.Of)
	if err == nil {
		text, err = s.folder.File(text, a.Path)
	}
	if err != nil {
		return "error: " + err.Error(), nil
	}
	lines := strings.SplitAfter(text, "\n")
	from := min(max(a.From-1, 0), len(lines))
	lines = lines[from:]
	if a.Lines > 0 {
		lines = lines[:min(a.Lines, len(lines))]
	}
	if text = strings.Join(lines, ""); text == "" {
		return "no lines\n", nil
	}
	return text, nil
}

func (s *session) search(ctx context.Context, a arguments) (string, error) {
	const most = 100
	pattern, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "error: " + err.Error(), nil
	}
	program, err := s.of(a.Of)
	if err != nil {
		return "error: " + err.Error(), nil
	}
	var b strings.Builder
	n := 0
	for _, f := range s.folder.Files(program) {
		if !strings.HasPrefix(f, a.Path) || ctx.Err() != nil {
			continue
		}
		text, err := s.folder.File(program, f)
		if err != nil {
			continue // no text
		}
		for i, line := range strings.Split(text, "\n") {
			if !pattern.MatchString(line) {
				continue
			}
			if n++; n <= most {
				fmt.Fprintf(&b, "%s:%d: %s\n", f, i+1, bounded(line, 300))
			}
		}
	}
	return counted(&b, n, most), nil
}

func (s *session) edit(_ context.Context, a arguments) (string, error) {
	program, err := s.edited(a)
	if err != nil {
		return "error: " + err.Error(), nil
	}
	s.program = program
	return "done\n", nil
}

func (s *session) edited(a arguments) (string, error) {
	if a.Delete {
		return s.folder.WithoutFile(s.program, a.Path)
	}
	if a.Old == "" {
		return s.folder.WithFile(s.program, a.Path, a.New)
	}
	text, err := s.folder.File(s.program, a.Path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(text, a.Old); n != 1 {
		return "", fmt.Errorf("old stands %d times in %s: need once", n, a.Path)
	}
	return s.folder.WithFile(s.program, a.Path, strings.Replace(text, a.Old, a.New, 1))
}

func (s *session) shell(ctx context.Context, a arguments) (string, error) {
	// The name is the program too, as the same line prints something else after an edit.
	return s.work.Remember(ctx, "run\n"+a.Command+"\n"+s.program, func(ctx context.Context) (string, error) {
		out, err := s.Shell(ctx, s.program, a.Command)
		return bounded(out, mostResult), broken(ctx, err)
	})
}

func (s *session) try(ctx context.Context, _ arguments) (string, error) {
	if s.tries >= s.bounds.Tries {
		return "error: the session has no try left", nil
	}
	s.tries++
	on, err := s.tryOn(ctx)
	if err != nil {
		return "", err
	}
	r, err := s.work.Tune(ctx, on, s.program)
	switch limit, refused := evolve.Refused(err); {
	case refused && limit != "":
		s.tries = s.bounds.Tries
		return "error: the budget has no try left", nil
	case err != nil:
		return "", err
	case !r.Valid:
		return "not valid: " + r.Reason, nil
	}
	s.tried = append(s.tried, eval.Candidate{Program: s.program, Result: r})
	return fmt.Sprintf("score %.6f in the mode tune\n", r.Score), nil
}

// tryOn returns the evaluator of tries: the Loop's, or else what the task has for tuners, or else nil, which means the
// task.
func (s *session) tryOn(ctx context.Context) (eval.Evaluator, error) {
	t, ok := task.As[tuner](s.task)
	if s.On != nil || !ok {
		return s.On, nil
	}
	e, err := s.tuners.of(ctx, t, s.task.Name())
	return e, broken(ctx, err)
}

func (s *session) submit(context.Context, arguments) (string, error) {
	if s.program == s.parent {
		return "error: nothing has changed yet: edit the program first", nil
	}
	s.done = true
	return "submitted\n", nil
}

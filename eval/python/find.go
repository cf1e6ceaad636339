package python

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// optional is the default of Config.Imports: modules that are imported where present.
var optional = []string{"numpy", "scipy"}

// An interpreter is a Python and its answer to a query.
type interpreter struct {
	Executable string            `json:"executable"`
	Version    string            `json:"version"`
	Lacking    map[string]string `json:"lacking"` // of the modules that it needs
	Wanting    map[string]string `json:"wanting"` // of those that are good to have
	problem    string            // why it did not answer
}

// Find returns the path of the first interpreter that can import modules: python3 on the PATH, then the system's.
// Without one, the error lists those tried and what each lacked. A wrapper that chooses an interpreter, such as
// pyenv's, is resolved to its choice.
func Find(ctx context.Context, modules ...string) (string, error) {
	return find(ctx, "", query{Modules: modules})
}

// A query is what an interpreter must be able to import. Of the interpreters that can, the first with most of the
// wanted modules is chosen. What the evaluator.py in Folder imports is wanted too: it may know itself where that is.
type query struct {
	Modules []string `json:"modules"`
	Wanted  []string `json:"wanted"`
	With    []string `json:"with"` // further folders to import from
	Folder  string   `json:"folder"`
}

// find returns the path of the interpreter for q. It does not query a named interpreter, which reports what it lacks
// when it is started.
func find(ctx context.Context, name string, q query) (string, error) {
	if name != "" {
		path, err := exec.LookPath(name)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return "", fmt.Errorf("python: looking for the interpreter %s: %w", name, err)
		}
		return resolve(ctx, path), nil
	}
	names := []string{"python3", "/usr/bin/python3", "/usr/local/bin/python3", "python"}
	var tried []interpreter
	for _, name := range names {
		p, ok := ask(ctx, name, q)
		if err := ctx.Err(); err != nil {
			return "", fmt.Errorf("python: looking for an interpreter: %w", err)
		}
		if !ok || slices.ContainsFunc(tried, func(t interpreter) bool { return t.Executable == p.Executable }) {
			continue
		}
		if p.usable() && len(p.Wanting) == 0 {
			return p.Executable, nil
		}
		tried = append(tried, p)
	}
	usable := slices.DeleteFunc(slices.Clone(tried), func(p interpreter) bool { return !p.usable() })
	if len(usable) == 0 {
		return "", lack(tried, names)
	}
	fewer := func(a, b interpreter) int { return cmp.Compare(len(a.Wanting), len(b.Wanting)) }
	return slices.MinFunc(usable, fewer).Executable, nil
}

// usable reports whether the interpreter meets the query.
func (p interpreter) usable() bool { return p.problem == "" && len(p.Lacking) == 0 }

func lack(tried []interpreter, names []string) error {
	if len(tried) == 0 {
		return fmt.Errorf("python: no interpreter found: tried %s; install Python 3.9 or newer, or name one",
			strings.Join(names, ", "))
	}
	lines := make([]string, len(tried))
	for i, p := range tried {
		lines[i] = p.String()
	}
	return fmt.Errorf("python: no interpreter has all that is needed: tried %s", strings.Join(lines, "; "))
}

// String returns the interpreter's path, its version and what it lacks.
func (p interpreter) String() string {
	if p.problem != "" {
		return fmt.Sprintf("%s (%s)", p.Executable, p.problem)
	}
	var parts []string
	for _, m := range slices.Sorted(maps.Keys(p.Lacking)) {
		parts = append(parts, fmt.Sprintf("lacks %s: %s", m, p.Lacking[m]))
	}
	return fmt.Sprintf("%s (Python %s, %s)", p.Executable, p.Version, strings.Join(parts, ", "))
}

// askTimeout bounds the imports of a query.
const askTimeout = time.Minute

// ask queries the interpreter of that name, started as it would be later; ok is false if there is none of that name.
func ask(ctx context.Context, name string, q query) (p interpreter, ok bool) {
	path, err := exec.LookPath(name)
	if err != nil {
		cause := errors.Unwrap(err)
		there := !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist)
		return interpreter{Executable: name, problem: cmp.Or(cause, err).Error()}, there
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	path = resolve(ctx, path)
	p, err = probe(ctx, path, q)
	p.Executable = cmp.Or(p.Executable, path)
	if err != nil {
		p.problem = err.Error()
	}
	return p, true
}

// resolve returns the interpreter behind path, which may be a wrapper that chooses one by its working directory or
// environment. It returns path itself if the interpreter does not answer.
func resolve(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-c", "import sys; print(sys.executable)")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if real := string(bytes.TrimSpace(out)); err == nil && real != "" {
		return real
	}
	return path
}

func probe(ctx context.Context, path string, q query) (interpreter, error) {
	var p interpreter
	code, err := sources(probing)
	if err != nil {
		return p, err
	}
	question, err := json.Marshal(q)
	if err != nil {
		return p, err
	}
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "-c", bootstrap)
	cmd.Env, cmd.Dir = environ(nil), string(filepath.Separator)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(frame(code), frame(question)...)), &out, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return p, fmt.Errorf("%s", cmp.Or(lastLine(stderr.String()), err.Error()))
	}
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		return p, fmt.Errorf("answered unintelligibly: %w", err)
	}
	return p, nil
}

// lastLine returns the last line of an interpreter's complaint, which is the most telling.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

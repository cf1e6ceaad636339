package python

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// optional are the modules that are imported where they are present if nothing else is said.
var optional = []string{"numpy", "scipy"}

// An interpreter is a Python that was asked what it is.
type interpreter struct {
	Executable string            `json:"executable"`
	Version    string            `json:"version"`
	Lacking    map[string]string `json:"lacking"` // of the modules that it needs
	Wanting    map[string]string `json:"wanting"` // of those that are good to have
	problem    string            // why it could not even be asked
}

// Find returns the path of the first interpreter that can import modules: python3 on the PATH, then
// the system's. Without one, the error says which were tried and what each lacked. Wrappers that
// choose an interpreter, such as pyenv's, are seen through.
func Find(ctx context.Context, modules ...string) (string, error) {
	return find(ctx, "", query{Modules: modules})
}

// A query is what an interpreter must be able to import: modules, and what the evaluator.py in folder
// imports. Of those that can, the first with most of the wanted modules is taken.
type query struct {
	Modules []string `json:"modules"`
	Wanted  []string `json:"wanted"`
	Folder  string   `json:"folder"`
}

// find returns the path of the first interpreter that can import what is asked for. One that is named
// is not asked: it says what it lacks when it is started.
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
		if p.will() && len(p.Wanting) == 0 {
			return p.Executable, nil
		}
		tried = append(tried, p)
	}
	if best, ok := most(tried); ok {
		return best.Executable, nil
	}
	return "", lack(tried, names)
}

// will reports whether the interpreter will do.
func (p interpreter) will() bool { return p.problem == "" && len(p.Lacking) == 0 }

// most returns the interpreter that will do and has most of what is wanted, the first among equals.
func most(tried []interpreter) (best interpreter, ok bool) {
	for _, p := range tried {
		if p.will() && (!ok || len(p.Wanting) < len(best.Wanting)) {
			best, ok = p, true
		}
	}
	return best, ok
}

func lack(tried []interpreter, names []string) error {
	if len(tried) == 0 {
		return fmt.Errorf("python: no interpreter found: tried %s; install Python 3.9 or newer, or name one", strings.Join(names, ", "))
	}
	lines := make([]string, len(tried))
	for i, p := range tried {
		lines[i] = p.String()
	}
	return fmt.Errorf("python: no interpreter has all that is needed: tried %s", strings.Join(lines, "; "))
}

// String says what the interpreter is and lacks.
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

// askTimeout is how long an interpreter may take to import what is asked for.
const askTimeout = time.Minute

// ask asks the interpreter of that name, as it would be started later, what it lacks; ok is false if
// there is none of that name.
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

// resolve returns the interpreter behind path, which may be a wrapper that chooses one by the folder
// or the environment that it is started in; path itself if it does not say.
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
	if err := readFrame(&out, &p); err != nil {
		return p, fmt.Errorf("answered what is not understood: %w", noEOF(err))
	}
	return p, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// lastLine returns the last line of what an interpreter complained about, which says the most.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

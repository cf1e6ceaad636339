package hints

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/task"
)

//go:embed hints.py
var reader string

// PythonConfig says how Python programs are read.
type PythonConfig struct {
	// Sizes are how many bytes the arrays have that the task passes to a program, by the name of the argument; nil means
	// that they are not known, and temporaries are said to be of the size of the argument.
	Sizes map[string]int64
	// Python is the interpreter that reads, and how it is contained. Its Imports are not used, and 0 means 5 s for Timeout
	// and 1 for Workers.
	Python python.Config
}

// Python finds in a Python program: temporaries of NumPy expressions and the passes that they make, Python loops over
// the elements of arrays, arrays that are copied in loops, lists that are searched or shifted in loops, strings that
// grow in loops, loops that nest three deep or more, its size and how often it branches. It is safe for concurrent use.
// Close it, or an interpreter stays.
//
// Python's own ast module parses the program, in a contained interpreter, which never runs it. NumPy need not be there.
//
// It does not know types. An argument counts as an array if it has a size in Sizes, or is passed to a function of
// NumPy; a variable does if its value is made of an array. NumPy may reuse a temporary for the next step of an
// expression, and an argument may be a number: so a finding says what a statement may do. It does not look into
// functions that are called, and what is known of names follows the order of the text, not the branches taken. Of a
// program of more than 64 KiB or with a syntax error it finds nothing.
type Python struct {
	runner  *python.Runner
	sizes   string // as JSON, which is a Python dict too
	version string
}

// NewPython starts the interpreter, so that one that is missing is known before anything is paid for.
func NewPython(ctx context.Context, cfg PythonConfig) (*Python, error) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Sizes)) {
		if cfg.Sizes[name] < 1 {
			return nil, fmt.Errorf("hints: PythonConfig.Sizes[%q] is %d: need a number of bytes of at least 1",
				name, cfg.Sizes[name])
		}
	}
	sizes, err := json.Marshal(cfg.Sizes)
	if err != nil {
		return nil, fmt.Errorf("hints: PythonConfig.Sizes: %w", err)
	}
	if cfg.Sizes == nil {
		sizes = []byte("{}")
	}
	c := cfg.Python
	c.Imports = []string{"ast", "base64"}
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Timeout == 0 {
		c.CPU, c.Timeout = 5*time.Second, 30*time.Second
	}
	runner, err := python.NewRunner(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("hints: starting Python: %w", err)
	}
	p := &Python{runner, string(sizes), ""}
	version, err := runner.Run(ctx, "import sys\ndef version():\n    return '%d.%d' % sys.version_info[:2]\n", "version")
	if err == nil {
		err = json.Unmarshal(version, &p.version)
	}
	if err != nil {
		runner.Close()
		return nil, fmt.Errorf("hints: asking Python for its version: %w", err)
	}
	return p, nil
}

// Close ends the interpreter.
func (p *Python) Close() error { return p.runner.Close() }

// Fingerprint says what decides the hints beside the program: the version of Python, whose ast it is, and the sizes.
func (p *Python) Fingerprint() string {
	if p.sizes == "{}" {
		return "hints.Python(" + p.version + ")"
	}
	return "hints.Python(" + p.version + ", " + p.sizes + ")"
}

// String is the Fingerprint.
func (p *Python) String() string { return p.Fingerprint() }

// Hints reads program. An error means that it is no Python, or that the interpreter could not be run.
func (p *Python) Hints(program string) ([]task.Hint, error) {
	if len(program) > maxProgram {
		return nil, fmt.Errorf("hints: the program is %d bytes long: at most %d are read", len(program), maxProgram)
	}
	var script strings.Builder
	script.WriteString(reader)
	fmt.Fprintf(&script, "\nSIZES = %s\nPROGRAM = %q\n", p.sizes, base64.StdEncoding.EncodeToString([]byte(program)))
	out, err := p.runner.Run(context.Background(), script.String(), "hints")
	if err != nil {
		return nil, fmt.Errorf("hints: parsing Python: %w", err)
	}
	var found []task.Hint
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("hints: reading what was found: %w", err)
	}
	return found, nil
}

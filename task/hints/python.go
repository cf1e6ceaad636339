package hints

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/task"
)

//go:embed hints.py
var reader string

// PythonConfig says how Python programs are read.
type PythonConfig struct {
	// Python is the interpreter that reads, and how it is contained. Its Imports are not used, and 0 means 5 s for Timeout
	// and 1 for Workers.
	Python python.Config
}

// Python finds in a Python program loops over the elements of what may be an array, arrays that are copied in loops,
// lists that are shifted in loops, and loops that nest three deep or more. It is safe for concurrent use. Close it, or an
// interpreter stays.
//
// Python's own ast module parses the program, in a contained interpreter, which never runs it. It does not know types,
// so a finding says what a statement may do. Of a program of more than 64 KiB or with a syntax error it finds nothing.
type Python struct {
	runner  *python.Runner
	version string
}

// NewPython starts the interpreter, so that one that is missing is known before anything is paid for.
func NewPython(ctx context.Context, cfg PythonConfig) (*Python, error) {
	c := cfg.Python
	c.Imports, c.Workers = []string{"ast", "base64"}, max(c.Workers, 1)
	if c.Timeout == 0 {
		c.CPU, c.Timeout = 5*time.Second, 30*time.Second
	}
	runner, err := python.NewRunner(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("hints: starting Python: %w", err)
	}
	p := &Python{runner: runner}
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

// Fingerprint says what decides the hints beside the program: the version of Python, whose ast it is.
func (p *Python) Fingerprint() string { return "hints.Python(" + p.version + ")" }

// String is the Fingerprint.
func (p *Python) String() string { return p.Fingerprint() }

// Hints reads program. An error means that it is no Python, or that the interpreter could not be run.
func (p *Python) Hints(program string) (found []task.Hint, err error) {
	if len(program) > maxProgram {
		return nil, fmt.Errorf("hints: the program is %d bytes long: at most %d are read", len(program), maxProgram)
	}
	script := fmt.Sprintf("%s\nPROGRAM = %q\n", reader, base64.StdEncoding.EncodeToString([]byte(program)))
	out, err := p.runner.Run(context.Background(), script, "hints")
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		return nil, fmt.Errorf("hints: parsing Python: %w", err)
	}
	return found, nil
}

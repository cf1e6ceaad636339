package hints

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/task"
)

// GoConfig says how Go programs are read.
type GoConfig struct {
	// Isolation is how much containment of the compiler is asked for.
	Isolation isolation.Level
	// Logger gets a line at start with the mechanisms that are in force, above the level of debugging only if some are
	// not; nil means [slog.Default].
	Logger *slog.Logger
}

// Go finds in a Go file what is allocated on the heap in loops: what the compiler prints with -gcflags=-m. The compiler is
// contained, and has 5 s of processor time. A file that does not compile by itself, or imports other packages than
// common ones of the standard library, has no hints. Go is safe for concurrent use. Close it, or a folder stays.
type Go struct {
	dir    string // with the export data of imports and what is copied for each program
	runner *command.Runner
}

// NewGo returns what reads Go programs. It asks the go command for its compiler.
func NewGo(ctx context.Context, cfg GoConfig) (*Go, error) {
	dir, err := os.MkdirTemp("", "evoalloc-hints-")
	if err != nil {
		return nil, fmt.Errorf("hints: making a folder: %w", err)
	}
	compiler, template, err := prepare(ctx, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	runner, err := command.NewRunner(command.Config{
		Args: []string{"sh", "analyse.sh", compiler, "{entry}"}, File: "program.go", Template: template,
		CPU: 5 * time.Second, Timeout: 30 * time.Second, Memory: 2 << 30, Processes: 64, FileBytes: 8 << 20,
		Isolation: cfg.Isolation, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hints: containing the compiler: %w", err), os.RemoveAll(dir))
	}
	return &Go{dir, runner}, nil
}

// Close removes what the compiler needs.
func (g *Go) Close() error { return os.RemoveAll(g.dir) }

// Fingerprint says what decides the hints beside the program: the version of the compiler.
func (g *Go) Fingerprint() string { return "hints.Go(" + runtime.Version() + ")" }

// String is the Fingerprint.
func (g *Go) String() string { return g.Fingerprint() }

// Hints reads program. An error means that it is no Go, or that the compiler could not be run.
func (g *Go) Hints(program string) (found []task.Hint, err error) {
	if len(program) > maxProgram {
		return nil, fmt.Errorf("hints: the program is %d bytes long: at most %d are read", len(program), maxProgram)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "program.go", program, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("hints: parsing Go: %w", err)
	}
	heap, err := g.escapes(program, file.Name.Name)
	if err != nil {
		return nil, err
	}
	loops, lines := loopsOf(fset, file), strings.Split(program, "\n")
	for _, line := range heap {
		if line >= len(loops) || loops[line] == 0 {
			continue
		}
		found = append(found, task.Hint{Line: line, Kind: "heap", Weight: 0.3, Text: fmt.Sprintf(
			"%s allocates on the heap in each pass of the loop of line %d", short(lines[line-1]), loops[line])})
	}
	return found, nil
}

// loopsOf returns for each line the line of the innermost loop whose body it is in; 0 for none.
func loopsOf(fset *token.FileSet, file *ast.File) []int {
	lineOf := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
	loops := make([]int, fset.File(file.FileStart).LineCount()+1)
	ast.Inspect(file, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		default:
			return true
		}
		for line := lineOf(body.Lbrace); line <= lineOf(body.Rbrace); line++ {
			loops[line] = lineOf(n.Pos())
		}
		return true
	})
	return loops
}

// short returns the beginning of a line, which may have anything in it.
func short(line string) string {
	if r := []rune(strings.TrimSpace(line)); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return strings.TrimSpace(line)
}

// escapes returns the lines on which the compiler puts something on the heap, in their order; none if the program does
// not compile.
func (g *Go) escapes(program, name string) ([]int, error) {
	if name != "main" {
		name = "program"
	}
	out, err := g.runner.Run(context.Background(), program, name)
	if bad := new(eval.ProgramError); errors.As(err, &bad) { // it took too much
		return nil, nil
	}
	var heap []int
	if err == nil {
		err = json.Unmarshal(out, &heap)
	}
	if err != nil {
		return nil, fmt.Errorf("hints: compiling: %w", err)
	}
	slices.Sort(heap)
	return slices.Compact(heap), nil
}

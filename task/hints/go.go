package hints

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"runtime"
	"slices"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/task"
)

// GoConfig says how Go programs are read.
type GoConfig struct {
	// SyntaxOnly leaves the compiler's escape analysis out; false means that the go command is needed at start. Then what
	// is allocated in a loop is guessed from the syntax.
	SyntaxOnly bool
	// Isolation is how much containment of the compiler is asked for.
	Isolation isolation.Level
	// Logger gets a line at start with the mechanisms that are in force, above the level of debugging only if some are
	// not; nil means [slog.Default].
	Logger *slog.Logger
}

// Go finds in a Go file: allocations in loops, strings that are put together in loops, slices that grow from no
// capacity, defers and regular expressions in loops, loops that nest three deep or more, its size and how often it
// branches. It is safe for concurrent use. Close it, or a folder stays.
//
// What the compiler puts on the heap is known where the file compiles by itself and imports nothing but common packages
// of the standard library. The compiler gets the file without its comments, so directives have no effect; it is
// contained, and has 5 s of processor time. Elsewhere, allocations are guessed from the syntax: some of them may be on
// the stack.
//
// It does not know types, but for strings and slices that are declared in sight. It does not look into other files and
// functions that are called, does not see what grows in maps and what the runtime allocates, and does not know how
// often a loop goes round. A file of more than 64 KiB or with a syntax error has no hints.
type Go struct {
	escape *escaper // nil: syntax only
}

// NewGo returns what reads Go programs. It asks the go command for its compiler, unless cfg says SyntaxOnly.
func NewGo(ctx context.Context, cfg GoConfig) (*Go, error) {
	if cfg.SyntaxOnly {
		return &Go{}, nil
	}
	e, err := newEscaper(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Go{e}, nil
}

// Close removes what the compiler needs.
func (g *Go) Close() error {
	if g.escape == nil {
		return nil
	}
	return g.escape.close()
}

// Fingerprint says what decides the hints beside the program: the version of the compiler, if it has a say.
func (g *Go) Fingerprint() string {
	if g.escape == nil {
		return "hints.Go(syntax)"
	}
	return "hints.Go(" + runtime.Version() + ")"
}

// String is the Fingerprint.
func (g *Go) String() string { return g.Fingerprint() }

// Hints reads program. An error means that it is no Go, or that the compiler could not be run.
func (g *Go) Hints(program string) ([]task.Hint, error) {
	if len(program) > maxProgram {
		return nil, fmt.Errorf("hints: the program is %d bytes long: at most %d are read", len(program), maxProgram)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "program.go", program, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("hints: parsing Go: %w", err)
	}
	r := newReading(fset, file)
	ast.PreorderStack(file, nil, r.visit)
	r.sizes()
	if err := g.heap(r, file, program); err != nil {
		return nil, err
	}
	slices.SortFunc(r.found, func(a, b task.Hint) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	return r.found, nil
}

// heap adds what is allocated in loops: what the compiler says, or a guess.
func (g *Go) heap(r *reading, file *ast.File, program string) error {
	if g.escape == nil || r.deep {
		r.guess()
		return nil
	}
	escapes, ok, err := g.escape.escapes(file, program)
	switch {
	case err != nil:
		return err
	case ok:
		r.allocations(escapes)
	default:
		r.guess()
	}
	return nil
}

package hints

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/task"
)

// How much each kind of finding speaks against a program.
const (
	weightHeap   = 0.2
	weightConcat = 0.3
	weightAppend = 0.1
	weightDefer  = 0.3
	weightRegexp = 0.4
	weightNest   = 0.1
)

// maxDepth is how deep in the syntax a file is read. Only a hostile one goes deeper. The compiler does not get it, as
// it can take minutes for it.
const maxDepth = 500

// A reading is what one pass over a file finds.
type reading struct {
	fset  *token.FileSet
	file  *ast.File
	names *names
	found []task.Hint

	made      map[[2]int]making // what may allocate in a loop, by where the compiler says so: line and column
	functions int
	branches  map[string]int // by function: its cyclomatic complexity
	depth     int            // of the deepest loop
	deep      bool           // the file nests deeper than it is read
}

// A making is an expression in a loop that may allocate.
type making struct {
	what    string
	line    int  // of the expression
	loop    int  // line of the innermost loop
	syntax  bool // it allocates wherever it does not stay on the stack
	sized   bool // make with a size that is not a constant: on the heap if it is large
	isMoved bool // a variable, by its declaration
}

func newReading(fset *token.FileSet, file *ast.File) *reading {
	return &reading{fset: fset, file: file, names: declared(file), made: map[[2]int]making{}, branches: map[string]int{}}
}

func (r *reading) line(n ast.Node) int { return r.fset.PositionFor(n.Pos(), false).Line }

func (r *reading) add(n ast.Node, kind string, weight float64, format string, args ...any) {
	r.found = append(r.found, task.Hint{Line: r.line(n), Kind: kind, Weight: weight, Text: fmt.Sprintf(format, args...)})
}

// visit looks at one node. stack holds what it stands in, outermost first.
func (r *reading) visit(n ast.Node, stack []ast.Node) bool {
	if len(stack) > maxDepth {
		r.deep = true
		return false
	}
	r.count(n, stack)
	loops := loopsAround(n, stack)
	switch s := n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		r.nest(s, len(loops)+1)
	case *ast.DeferStmt:
		if len(loops) > 0 {
			r.add(s, "defer in loop",
				weightDefer, "defer in a loop: what is deferred runs when the function returns, not at the end of each pass")
		}
	case *ast.AssignStmt:
		if len(loops) > 0 {
			r.assign(s, loops[0])
		}
	case *ast.CallExpr:
		if name := callee(s); len(loops) > 0 && (name == "regexp.MustCompile" || name == "regexp.Compile") {
			r.add(s, "regexp in loop", weightRegexp, "%s in each pass of a loop", name)
		}
	}
	if len(loops) > 0 {
		r.make(n, stack, loops[0])
	}
	return true
}

// count counts functions and branches.
func (r *reading) count(n ast.Node, stack []ast.Node) {
	if f, ok := n.(*ast.FuncDecl); ok {
		r.functions++
		r.branches[f.Name.Name] = max(r.branches[f.Name.Name], 1)
		return
	}
	if branches(n) && len(stack) > 1 {
		if f, ok := stack[1].(*ast.FuncDecl); ok {
			r.branches[f.Name.Name]++
		}
	}
}

// branches reports whether n adds a way through a function: McCabe's cyclomatic complexity is one more than their
// number.
func branches(n ast.Node) bool {
	switch s := n.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
		return true
	case *ast.CaseClause:
		return s.List != nil
	case *ast.CommClause:
		return s.Comm != nil
	case *ast.BinaryExpr:
		return s.Op == token.LAND || s.Op == token.LOR
	}
	return false
}

// nest notes a loop that stands in others.
func (r *reading) nest(n ast.Node, depth int) {
	r.depth = max(r.depth, depth)
	if depth >= 3 {
		r.add(n, "nested loops", min(weightNest*float64(depth-2), 1), "loops nest %d deep here", depth)
	}
}

// sizes adds what is said of the program as a whole.
func (r *reading) sizes() {
	most, worst := 0, ""
	for name, n := range r.branches {
		if n > most || n == most && name < worst {
			most, worst = n, name
		}
	}
	if r.functions == 0 {
		return
	}
	lines := r.fset.PositionFor(r.file.End(), false).Line
	text := fmt.Sprintf("%d lines, %d functions; %.40s branches most, with a cyclomatic complexity of %d; loops nest %d "+
		"deep",
		lines, r.functions, worst, most, r.depth)
	r.found = append(r.found, task.Hint{Kind: "size", Text: text})
}

// assign looks at an assignment in a loop: a string that grows, or a slice.
func (r *reading) assign(s *ast.AssignStmt, loop ast.Node) {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return
	}
	name, ok := s.Lhs[0].(*ast.Ident)
	if !ok {
		return
	}
	d, known := r.names.at(name.Name, s.Pos())
	if !known || d.pos >= loop.Pos() && d.pos < loop.End() { // new in each pass
		return
	}
	switch {
	case d.kind == text && grows(s, name.Name):
		r.add(s, "concatenation",
			weightConcat, "%.40s grows by concatenation in the loop of line %d: it may be copied in each pass",
			name.Name, r.line(loop))
	case d.kind == empty && s.Tok == token.ASSIGN && appends(s.Rhs[0], name.Name):
		r.add(s, "append", weightAppend, "append to %.40s in the loop of line %d, and it begins without a capacity: it may "+
			"be copied several times as it grows",
			name.Name, r.line(loop))
	}
}

// grows reports whether s makes name longer: name += x, or name = name + x.
func grows(s *ast.AssignStmt, name string) bool {
	if s.Tok == token.ADD_ASSIGN {
		return true
	}
	left, ok := s.Rhs[0].(*ast.BinaryExpr)
	for ok && left.Op == token.ADD {
		if id, is := left.X.(*ast.Ident); is {
			return s.Tok == token.ASSIGN && id.Name == name
		}
		left, ok = left.X.(*ast.BinaryExpr)
	}
	return false
}

// appends reports whether e appends to name.
func appends(e ast.Expr, name string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || callee(call) != "append" || len(call.Args) < 2 {
		return false
	}
	id, ok := call.Args[0].(*ast.Ident)
	return ok && id.Name == name
}

// make notes n if it may allocate, by where the compiler would say so.
func (r *reading) make(n ast.Node, stack []ast.Node, loop ast.Node) {
	m := making{line: r.line(n), loop: r.line(loop)}
	pos := n.Pos()
	switch s := n.(type) {
	case *ast.CallExpr:
		if mapOrSlice(s.Fun) && len(s.Args) == 1 { // a conversion, such as []byte(s)
			pos, m.what = s.Args[0].Pos(), types.ExprString(s)
			break
		}
		name := callee(s)
		if name != "make" && name != "new" || len(s.Args) == 0 {
			return
		}
		pos, m.what, m.syntax = s.Lparen, types.ExprString(s), name == "make"
		m.sized = name == "make" && len(s.Args) > 1 && !constant(s.Args[len(s.Args)-1])
	case *ast.CompositeLit:
		pos, m.what, m.syntax = s.Lbrace, types.ExprString(s), mapOrSlice(s.Type)
		if u, ok := stack[len(stack)-1].(*ast.UnaryExpr); ok && u.Op == token.AND {
			pos, m.what = u.OpPos, types.ExprString(u)
		}
	case *ast.FuncLit:
		m.what = "a closure"
	case *ast.Ident:
		if !r.ident(s, stack, &m) {
			return
		}
	default:
		return
	}
	m.what = short(m.what)
	at := r.fset.PositionFor(pos, false)
	if known, ok := r.made[[2]int{at.Line, at.Column}]; !ok || len(m.what) > len(known.what) {
		r.made[[2]int{at.Line, at.Column}] = m
	}
}

// ident notes a variable that is declared here, or an argument that may be put into an interface.
func (r *reading) ident(s *ast.Ident, stack []ast.Node, m *making) bool {
	switch up := stack[len(stack)-1].(type) {
	case *ast.CallExpr:
		if slices.Contains(up.Args, ast.Expr(s)) && strings.Contains(callee(up), ".") {
			if d, known := r.names.at(s.Name, s.Pos()); known && d.kind == fixed {
				return false
			}
			m.what = fmt.Sprintf("%s, an argument of %s,", s.Name, callee(up))
			return true
		}
	case *ast.AssignStmt:
		m.what, m.isMoved = "the variable "+s.Name, true
		return up.Tok == token.DEFINE && slices.Contains(up.Lhs, ast.Expr(s))
	case *ast.RangeStmt:
		m.what, m.isMoved = "the variable "+s.Name, true
		return up.Tok == token.DEFINE && (up.Key == ast.Expr(s) || up.Value == ast.Expr(s))
	case *ast.ValueSpec:
		m.what, m.isMoved = "the variable "+s.Name, true
		return slices.Contains(up.Names, s)
	}
	return false
}

// allocations adds what the compiler puts on the heap in loops.
func (r *reading) allocations(escapes []escape) {
	heap := map[[2]int]bool{}
	for _, e := range escapes {
		at := [2]int{e.line, e.column}
		if m, ok := r.made[at]; ok && m.isMoved == e.moved && !heap[at] {
			heap[at] = true
			r.allocation(m, "%s is allocated on the heap in each pass that comes here, in the loop of line %d")
		}
	}
	for at, m := range r.made {
		if m.sized && !heap[at] {
			r.allocation(m, "%s may be allocated in each pass of the loop of line %d, if it is not small")
		}
	}
}

// guess adds what allocates in loops by the syntax.
func (r *reading) guess() {
	for _, m := range r.made {
		if m.syntax {
			r.allocation(m, "%s may be allocated in each pass of the loop of line %d")
		}
	}
}

func (r *reading) allocation(m making, format string) {
	r.found = append(r.found,
		task.Hint{Line: m.line, Kind: "heap", Weight: weightHeap, Text: fmt.Sprintf(format, m.what, m.loop)})
}

// short returns what it takes to recognise an expression.
func short(s string) string {
	if r := []rune(s); len(r) > 50 {
		return string(r[:50]) + "…"
	}
	return s
}

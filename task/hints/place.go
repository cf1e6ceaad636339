package hints

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// loopsAround returns the loops of n's own function in each pass of which n may run, the innermost first. What stands
// in a block that ends by leaving a loop runs once in it, and not in each pass.
func loopsAround(n ast.Node, stack []ast.Node) (loops []ast.Node) {
	child, breakable := n, false // a switch or select between here and the next loop
	for i := len(stack) - 1; i >= 0; i-- {
		switch s := stack[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return loops
		case *ast.ForStmt:
			if child != s.Init {
				loops, breakable = append(loops, s), false
			}
		case *ast.RangeStmt:
			if child != s.X {
				loops, breakable = append(loops, s), false
			}
		case *ast.BlockStmt:
			if i > 0 && !isLoop(stack[i-1]) && leaves(s.List, breakable || isSwitch(stack[i-1])) {
				return loops
			}
		case *ast.CaseClause:
			if leaves(s.Body, true) {
				return loops
			}
		case *ast.CommClause:
			if leaves(s.Body, true) {
				return loops
			}
		case *ast.CallExpr:
			if callee(s) == "panic" {
				return loops
			}
		case *ast.ReturnStmt:
			return loops
		}
		breakable = breakable || isSwitch(stack[i])
		child = stack[i]
	}
	return loops
}

func isLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

func isSwitch(n ast.Node) bool {
	switch n.(type) {
	case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return true
	}
	return false
}

// leaves reports whether a list of statements ends by leaving the loop that it stands in. inSwitch says that a break
// only leaves a switch.
func leaves(list []ast.Stmt, inSwitch bool) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK && (s.Label != nil || !inSwitch)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && slices.Contains([]string{"panic", "os.Exit", "log.Fatal", "log.Fatalf"}, callee(call))
	}
	return false
}

// callee returns the name of what is called, "" if it is not a name or a name of a package or value.
func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		return ""
	}
	return ""
}

// constant reports whether e is a number as it is written.
func constant(e ast.Expr) bool {
	_, ok := e.(*ast.BasicLit)
	return ok
}

// mapOrSlice reports whether a composite literal of type t has something to allocate.
func mapOrSlice(t ast.Expr) bool {
	switch a := t.(type) {
	case *ast.MapType:
		return true
	case *ast.ArrayType:
		return a.Len == nil
	}
	return false
}

// A kind is what is known of a variable.
type kind int

const (
	other kind = iota
	text       // a string
	empty      // a slice without a capacity
	fixed      // a constant
)

// A declaration is where a name gets its meaning.
type declaration struct {
	pos  token.Pos
	kind kind
}

// names are the declarations of a file by name, in order of the text.
type names struct{ by map[string][]declaration }

// at returns the declaration that is next before pos. Blocks are not told apart: after a name was declared again in an
// inner block, the inner declaration counts.
func (n *names) at(name string, pos token.Pos) (d declaration, known bool) {
	for _, c := range n.by[name] {
		if c.pos >= pos {
			break
		}
		d, known = c, true
	}
	return d, known
}

func (n *names) add(id *ast.Ident, k kind) {
	n.by[id.Name] = append(n.by[id.Name], declaration{id.Pos(), k})
}

// declared returns what file declares.
func declared(file *ast.File) *names {
	n := &names{map[string][]declaration{}}
	ast.Inspect(file, func(node ast.Node) bool {
		switch s := node.(type) {
		case *ast.Field:
			for _, id := range s.Names {
				n.add(id, kindOfType(s.Type))
			}
		case *ast.GenDecl:
			n.general(s)
		case *ast.AssignStmt:
			for i, l := range s.Lhs {
				if id, ok := l.(*ast.Ident); ok && s.Tok == token.DEFINE {
					n.add(id, n.value(s.Rhs, i, len(s.Lhs)))
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{s.Key, s.Value} {
				if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE {
					n.add(id, other)
				}
			}
		}
		return true
	})
	return n
}

// general adds what var and const declare.
func (n *names) general(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, id := range s.Names {
			k := kindOfType(s.Type)
			switch {
			case d.Tok == token.CONST:
				k = fixed
			case len(s.Values) > 0:
				if v := n.value(s.Values, i, len(s.Names)); k != text {
					k = v
				}
			case k == other && slice(s.Type):
				k = empty
			}
			n.add(id, k)
		}
	}
}

// kindOfType returns what a type says of a parameter or variable.
func kindOfType(t ast.Expr) kind {
	if id, ok := t.(*ast.Ident); ok && id.Name == "string" {
		return text
	}
	return other
}

func slice(t ast.Expr) bool {
	a, ok := t.(*ast.ArrayType)
	return ok && a.Len == nil
}

// value returns what the i-th of n variables is that get values.
func (n *names) value(values []ast.Expr, i, of int) kind {
	if len(values) != of {
		return other
	}
	switch v := values[i].(type) {
	case *ast.CompositeLit:
		if slice(v.Type) && len(v.Elts) == 0 {
			return empty
		}
	case *ast.CallExpr:
		if callee(v) == "make" && len(v.Args) == 2 && slice(v.Args[0]) {
			if lit, ok := v.Args[1].(*ast.BasicLit); ok && lit.Value == "0" {
				return empty
			}
		}
	}
	if n.isText(values[i]) {
		return text
	}
	return other
}

// texts are functions that return strings.
const texts = "string strconv.Itoa strconv.FormatInt strconv.Quote fmt.Sprint fmt.Sprintf fmt.Sprintln strings.Join " +
	"strings.Repeat strings.Replace strings.ReplaceAll strings.ToLower strings.ToUpper strings.TrimSpace"

// isText reports whether e is known to be a string.
func (n *names) isText(e ast.Expr) bool {
	switch v := e.(type) {
	case *ast.BasicLit:
		return v.Kind == token.STRING
	case *ast.CallExpr:
		return slices.Contains(strings.Fields(texts), callee(v))
	case *ast.BinaryExpr:
		return v.Op == token.ADD && (n.isText(v.Y) || n.isText(v.X))
	case *ast.Ident:
		d, ok := n.at(v.Name, v.Pos())
		return ok && d.kind == text
	}
	return false
}

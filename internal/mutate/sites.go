package mutate

import (
	"slices"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// A site is a place in a JavaScript program where an expression stands that may be changed.
type site struct {
	at    *js.IExpr
	names []string // variables that stand for values there
	inner bool     // whether it is part of an expression, so that what stands there may need parentheses
	test  bool     // whether it is a condition
}

// A suite is a sequence of statements.
type suite struct {
	at      *[]js.IStmt
	names   [][]string // the variables before each statement, and after the last
	returns bool       // whether it is in a function
}

// An outline is what of a program may be changed. Left out are what would more often make a program loop or fail
// than do something else: headers of loops, what is called or assigned to, keys, strings.
type outline struct {
	ast    *js.AST
	sites  []site
	suites []suite
}

// mostCode bounds, in bytes, the programs that are read: an edit reads one up to 40 times. mostNames bounds the
// variables that are known at one place, of which each statement has a list.
const (
	mostCode  = 64 << 10
	mostNames = 1000
)

// outlineOf reads a program. It reports false for what is no JavaScript or longer than mostCode.
func outlineOf(program string) (*outline, bool) {
	if len(program) > mostCode {
		return nil, false
	}
	ast, err := js.Parse(parse.NewInputString(program), js.Options{})
	if err != nil {
		return nil, false
	}
	o := &outline{ast: ast}
	o.suite(&ast.BlockStmt.List, nil, false)
	return o, true
}

// suite reads a sequence of statements, where names can be used.
func (o *outline) suite(list *[]js.IStmt, names []string, returns bool) {
	s := suite{at: list, returns: returns}
	for _, stmt := range *list {
		names = slices.Clip(names)
		s.names = append(s.names, names)
		names = o.statement(stmt, names, returns)
	}
	s.names = append(s.names, slices.Clip(names))
	o.suites = append(o.suites, s)
}

// block reads a block that may be missing.
func (o *outline) block(b *js.BlockStmt, names []string, returns bool) {
	if b != nil {
		o.suite(&b.List, names, returns)
	}
}

// statement reads a statement and returns the names that can be used after it.
func (o *outline) statement(stmt js.IStmt, names []string, returns bool) []string {
	switch s := stmt.(type) {
	case *js.VarDecl:
		return o.declaration(s, names)
	case *js.ExprStmt:
		o.effect(s.Value, names)
	case *js.ReturnStmt:
		o.optional(&s.Value, names)
	case *js.BlockStmt:
		o.block(s, names, returns)
	case *js.IfStmt:
		o.expression(&s.Cond, site{names: names, test: true})
		o.statement(s.Body, names, returns)
		if s.Else != nil {
			o.statement(s.Else, names, returns)
		}
	case *js.FuncDecl:
		o.function(&s.Params, &s.Body, names)
	case *js.ExportStmt:
		o.effect(s.Decl, names)
	case *js.LabelledStmt:
		return o.statement(s.Value, names, returns)
	default:
		o.compound(stmt, names, returns)
	}
	return names
}

// compound reads a statement that holds others.
func (o *outline) compound(stmt js.IStmt, names []string, returns bool) {
	switch s := stmt.(type) {
	case *js.ForStmt:
		o.block(s.Body, o.loop(s.Init, names), returns)
	case *js.ForInStmt:
		o.block(s.Body, names, returns)
	case *js.ForOfStmt:
		o.block(s.Body, o.loop(s.Init, names), returns)
	case *js.WhileStmt:
		o.statement(s.Body, names, returns)
	case *js.DoWhileStmt:
		o.statement(s.Body, names, returns)
	case *js.TryStmt:
		o.block(s.Body, names, returns)
		o.block(s.Catch, names, returns)
		o.block(s.Finally, names, returns)
	case *js.SwitchStmt:
		for i := range s.List {
			o.suite(&s.List[i].List, names, returns)
		}
	case *js.ClassDecl:
		for _, e := range s.List {
			if e.Method != nil {
				o.function(&e.Method.Params, &e.Method.Body, names)
			}
		}
	}
}

// loop returns names and those that the header of a loop declares.
func (o *outline) loop(init js.IExpr, names []string) []string {
	if d, ok := init.(*js.VarDecl); ok {
		for _, e := range d.List {
			names = bound(e.Binding, names)
		}
	}
	return names
}

// bound returns names and the one that b declares, if it declares one and there is room for it.
func bound(b js.IBinding, names []string) []string {
	if v, ok := b.(*js.Var); ok && len(names) < mostNames {
		return append(slices.Clip(names), string(v.Name()))
	}
	return names
}

// declaration reads a declaration and returns names with those that it declares as values.
func (o *outline) declaration(d *js.VarDecl, names []string) []string {
	for i := range d.List {
		e := &d.List[i]
		o.optional(&e.Default, names)
		switch e.Default.(type) {
		case *js.ArrowFunc, *js.FuncDecl, *js.ArrayExpr, *js.ObjectExpr, *js.NewExpr: // no value to calculate with
		default:
			names = bound(e.Binding, names)
		}
	}
	return names
}

// function reads a function.
func (o *outline) function(p *js.Params, body *js.BlockStmt, names []string) {
	for _, e := range p.List {
		names = bound(e.Binding, names)
	}
	o.suite(&body.List, names, true)
}

// effect reads an expression that is there for what it does, so that only its parts may be changed.
func (o *outline) effect(e js.IExpr, names []string) {
	if e != nil {
		o.parts(e, site{names: names})
	}
}

// optional reads an expression that may be missing.
func (o *outline) optional(at *js.IExpr, names []string) {
	if *at != nil {
		o.expression(at, site{names: names})
	}
}

// expression reads the expression at at, about which s says the rest.
func (o *outline) expression(at *js.IExpr, s site) {
	s.at = at
	switch e := (*at).(type) {
	case *js.LiteralExpr:
		if !js.IsNumeric(e.TokenType) && e.TokenType != js.TrueToken && e.TokenType != js.FalseToken {
			return
		}
	case *js.BinaryExpr:
		if assigns(e.Op) {
			o.parts(e, s)
			return
		}
	case *js.UnaryExpr:
		if e.Op != js.NegToken && e.Op != js.PosToken && e.Op != js.NotToken {
			return
		}
	case *js.Var, *js.CondExpr, *js.CallExpr, *js.IndexExpr, *js.DotExpr:
	default:
		o.parts(e, s)
		return
	}
	o.sites = append(o.sites, s)
	o.parts(*at, s)
}

// parts reads the expressions in e.
func (o *outline) parts(e js.IExpr, s site) {
	part := site{names: s.names, inner: true}
	arg := site{names: s.names}
	switch e := e.(type) {
	case *js.BinaryExpr:
		part.test = s.test && (e.Op == js.AndToken || e.Op == js.OrToken)
		if part.inner = !assigns(e.Op); part.inner {
			o.expression(&e.X, part)
		}
		o.expression(&e.Y, part)
	case *js.UnaryExpr:
		part.test = e.Op == js.NotToken
		if e.Op == js.NegToken || e.Op == js.PosToken || e.Op == js.NotToken {
			o.expression(&e.X, part)
		}
	case *js.CondExpr:
		o.expression(&e.X, part)
		o.expression(&e.Y, part)
		part.test = true
		o.expression(&e.Cond, part)
	case *js.GroupExpr:
		arg.test = s.test
		o.expression(&e.X, arg)
	case *js.IndexExpr:
		o.expression(&e.Y, arg)
	default:
		o.several(e, arg)
	}
}

// several reads the expressions in e, which is a list of some kind or a function.
func (o *outline) several(e js.IExpr, arg site) {
	switch e := e.(type) {
	case *js.CallExpr:
		for i := range e.Args.List {
			o.expression(&e.Args.List[i].Value, arg)
		}
	case *js.NewExpr:
		if e.Args != nil {
			for i := range e.Args.List {
				o.expression(&e.Args.List[i].Value, arg)
			}
		}
	case *js.ArrayExpr:
		for i := range e.List {
			o.optional(&e.List[i].Value, arg.names)
		}
	case *js.ObjectExpr:
		for i := range e.List {
			if _, short := e.List[i].Value.(*js.Var); e.List[i].Name != nil && !short {
				o.expression(&e.List[i].Value, arg)
			}
		}
	case *js.ArrowFunc:
		o.function(&e.Params, &e.Body, arg.names)
	case *js.FuncDecl:
		o.function(&e.Params, &e.Body, arg.names)
	case *js.VarDecl: // of an export
		o.declaration(e, arg.names)
	}
}

// assigns reports whether op assigns to what stands before it.
func assigns(op js.TokenType) bool {
	switch op {
	case js.EqToken, js.AddEqToken, js.SubEqToken, js.MulEqToken, js.ExpEqToken, js.DivEqToken, js.ModEqToken,
		js.LtLtEqToken, js.GtGtEqToken, js.GtGtGtEqToken, js.BitAndEqToken, js.BitOrEqToken, js.BitXorEqToken,
		js.AndEqToken, js.OrEqToken, js.NullishEqToken:
		return true
	}
	return false
}

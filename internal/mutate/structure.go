package mutate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// Structure returns a JavaScript program that does something else: expressions or statements are replaced,
// extended, copied, taken out or moved. It reports false if there is nothing to change or the program is no
// JavaScript. Comments and layout are lost, but for what stands outside the EVOLVE-BLOCK markers of a program that
// has them.
func Structure(program string, b Bias, d Draw) (string, bool) {
	if before, inside, after, ok := markedPart(program, d); ok {
		changed, ok := Structure(inside, b, d)
		if !ok {
			return program, false
		}
		return before + strings.TrimRight(changed, "\n") + "\n" + after, true
	}
	edits := 1
	if b.Bold {
		edits = 3
	}
	for d.Chance(0.25) {
		edits++
	}
	o, ok := outlineOf(program)
	if !ok {
		return program, false
	}
	before := o.text() // so that a new layout is taken for no change
	text := before
	for range edits {
		text = editOnce(text, b, d)
	}
	if text == before {
		return program, false
	}
	return text, true
}

// markedPart splits a program at a pair of EVOLVE-BLOCK markers, whose lines belong to what is kept.
func markedPart(program string, d Draw) (before, inside, after string, ok bool) {
	var starts, ends []int
	at := 0
	for line := range strings.Lines(program) {
		switch {
		case strings.Contains(line, "EVOLVE-BLOCK-START"):
			starts = append(starts, at+len(line))
		case strings.Contains(line, "EVOLVE-BLOCK-END"):
			ends = append(ends, at)
		}
		at += len(line)
	}
	if len(starts) == 0 || len(starts) != len(ends) {
		return "", "", "", false
	}
	i := d.IntN(len(starts))
	if starts[i] > ends[i] {
		return "", "", "", false
	}
	return program[:starts[i]], program[starts[i]:ends[i]], program[ends[i]:], true
}

// triesOfEdit is how many edits are tried until one can be made and leaves JavaScript.
const triesOfEdit = 20

// editOnce makes one edit of a program that is laid out as it is printed. It returns the program itself if none
// of several tries comes to another one.
func editOnce(program string, b Bias, d Draw) string {
	for range triesOfEdit {
		o, ok := outlineOf(program)
		if !ok {
			return program
		}
		s := sculptor{grower{d, b, numbersOf(program)}, o}
		if !s.edit() {
			continue
		}
		again, ok := outlineOf(o.text()) // lays out anew what was put in as text, and checks it
		if !ok {
			continue
		}
		if text := again.text(); text != program {
			return text
		}
	}
	return program
}

// text prints the program.
func (o *outline) text() string { return o.ast.JSString() }

// numbersOf returns the numbers of a program that may be changed, as they are written.
func numbersOf(program string) []string {
	var all []string
	for _, l := range lex.JavaScript.Literals(program) {
		all = append(all, strings.TrimPrefix(program[l.Begin:l.End], "-"))
	}
	return all
}

// A sculptor makes one edit of a program. What it puts in is text, which is parsed with the whole afterwards.
type sculptor struct {
	grower
	*outline
}

// edit draws an edit and reports whether it could be made.
func (s sculptor) edit() bool {
	if s.bias.Simpler {
		return s.oneOf(s.shrink, s.shrink, s.remove)
	}
	if s.bias.Prefer != 0 {
		return s.oneOf(s.replace, s.extend, s.extend)
	}
	switch u := s.Float64(); {
	case u < 0.2:
		return s.replace()
	case u < 0.45:
		return s.extend()
	case u < 0.7:
		return s.oneOf(s.shrink, s.duplicate, s.swap, s.alter, s.alter)
	}
	return s.oneOf(s.insert, s.insert, s.guard, s.remove, s.repeat, s.move)
}

func (s sculptor) oneOf(edits ...func() bool) bool { return edits[s.IntN(len(edits))]() }

// pick draws a site.
func (s sculptor) pick() (site, bool) {
	if len(s.sites) == 0 {
		return site{}, false
	}
	return s.sites[s.IntN(len(s.sites))], true
}

// put puts text at p.
func put(p site, text string) {
	if p.inner {
		text = operand(text)
	}
	*p.at = raw(text)
}

// raw is an expression that prints as text.
func raw(text string) js.IExpr { return &js.LiteralExpr{Data: []byte(text)} }

// textOf prints an expression, without parentheses around all of it.
func textOf(e js.IExpr) string {
	for {
		g, ok := e.(*js.GroupExpr)
		if !ok {
			break
		}
		e = g.X
	}
	var b strings.Builder
	e.JS(&b)
	return b.String()
}

// grown is a new expression for p.
func (s sculptor) grown(p site) string {
	if p.test {
		return s.test(p.names)
	}
	return s.value(p.names, 1+s.IntN(2))
}

// replace puts a new expression in the place of one.
func (s sculptor) replace() bool {
	p, ok := s.pick()
	if ok {
		put(p, s.grown(p))
	}
	return ok
}

// extend makes an expression part of a new one.
func (s sculptor) extend() bool {
	p, ok := s.pick()
	if !ok {
		return false
	}
	old := textOf(*p.at)
	if p.test {
		put(p, operand(old)+" "+s.One([]string{"&&", "||"})+" "+operand(s.test(p.names)))
		return true
	}
	put(p, s.apply(pickIdiom(s.Draw, s.bias), old, p.names, 1))
	return true
}

// shrink puts one part of an expression in the place of the whole.
func (s sculptor) shrink() bool {
	p, ok := s.pick()
	if !ok {
		return false
	}
	var parts []js.IExpr
	switch e := (*p.at).(type) {
	case *js.BinaryExpr:
		if !p.test || e.Op == js.AndToken || e.Op == js.OrToken {
			parts = []js.IExpr{e.X, e.Y}
		}
	case *js.UnaryExpr:
		parts = []js.IExpr{e.X}
	case *js.CondExpr:
		parts = []js.IExpr{e.X, e.Y}
	case *js.CallExpr:
		for _, a := range e.Args.List {
			parts = append(parts, a.Value)
		}
	}
	if len(parts) == 0 {
		return false
	}
	put(p, textOf(parts[s.IntN(len(parts))]))
	return true
}

// duplicate puts a copy of an expression in the place of another of its kind.
func (s sculptor) duplicate() bool {
	p, q, ok := s.pair()
	if ok {
		put(p, textOf(*q.at))
	}
	return ok
}

// swap exchanges two expressions of a kind. If one is part of the other, it takes the place of that.
func (s sculptor) swap() bool {
	p, q, ok := s.pair()
	if ok {
		a, b := textOf(*p.at), textOf(*q.at)
		put(q, a)
		put(p, b)
	}
	return ok
}

// pair draws two sites of a kind.
func (s sculptor) pair() (p, q site, ok bool) {
	if p, ok = s.pick(); !ok {
		return p, q, false
	}
	var like []site
	for _, q := range s.sites {
		if q.test == p.test && q.at != p.at {
			like = append(like, q)
		}
	}
	if len(like) == 0 {
		return p, q, false
	}
	return p, like[s.IntN(len(like))], true
}

// kin are operators that can take each other's place.
var kin = [][]js.TokenType{
	{js.AddToken, js.SubToken, js.MulToken, js.DivToken},
	{js.LtToken, js.LtEqToken, js.GtToken, js.GtEqToken},
	{js.AndToken, js.OrToken},
}

// alter exchanges an operator for another, or one variable or number for another.
func (s sculptor) alter() bool {
	p, ok := s.pick()
	if !ok {
		return false
	}
	e, ok := (*p.at).(*js.BinaryExpr)
	if !ok {
		if _, leaf := (*p.at).(*js.Var); leaf && !p.test {
			put(p, s.leaf(p.names))
		}
		return true
	}
	for _, ops := range kin {
		if slices.Contains(ops, e.Op) {
			*p.at = raw(operand(textOf(e.X)) + " " + ops[s.IntN(len(ops))].String() + " " + operand(textOf(e.Y)))
			if p.inner {
				*p.at = raw("(" + textOf(*p.at) + ")")
			}
		}
	}
	return true
}

// at draws a suite with at least so many statements, and one of those.
func (s sculptor) at(least int) (list suite, i int, ok bool) {
	var fit []suite
	for _, l := range s.suites {
		if len(*l.at) >= least && l.returns {
			fit = append(fit, l)
		}
	}
	if len(fit) == 0 {
		return suite{}, 0, false
	}
	list = fit[s.IntN(len(fit))]
	return list, s.IntN(len(*list.at)), true
}

// statement is one that prints as text.
func statement(text string) js.IStmt { return &js.Comment{Value: []byte(text)} }

// textOfStatement prints a statement.
func textOfStatement(stmt js.IStmt) string {
	var b strings.Builder
	stmt.JS(&b)
	if _, ok := stmt.(*js.VarDecl); ok {
		b.WriteString(";")
	}
	return b.String()
}

// insert puts a new statement before another: a value to return early.
func (s sculptor) insert() bool {
	list, i, ok := s.at(1)
	if ok {
		names := list.names[i]
		text := fmt.Sprintf("if (%s) return %s;", s.test(names), s.value(names, 1))
		*list.at = slices.Insert(*list.at, i, statement(text))
	}
	return ok
}

// guard puts a statement under a condition.
func (s sculptor) guard() bool {
	list, i, ok := s.at(1)
	if !ok {
		return false
	}
	if _, declares := (*list.at)[i].(*js.VarDecl); declares {
		return false
	}
	(*list.at)[i] = statement(fmt.Sprintf("if (%s) { %s }", s.test(list.names[i]), textOfStatement((*list.at)[i])))
	return true
}

// remove takes a statement out.
func (s sculptor) remove() bool {
	list, i, ok := s.at(2)
	if ok {
		*list.at = slices.Delete(*list.at, i, i+1)
	}
	return ok
}

// repeat puts a copy of a statement before it, with its numbers changed: a second case of the same rule.
func (s sculptor) repeat() bool {
	list, i, ok := s.at(1)
	if !ok {
		return false
	}
	if _, declares := (*list.at)[i].(*js.VarDecl); declares {
		return false
	}
	text := Numbers(textOfStatement((*list.at)[i]), lex.JavaScript, s.Draw)
	*list.at = slices.Insert(*list.at, i, statement(text))
	return true
}

// move puts a statement somewhere else among those around it.
func (s sculptor) move() bool {
	list, i, ok := s.at(2)
	if !ok {
		return false
	}
	stmt := (*list.at)[i]
	rest := slices.Delete(slices.Clone(*list.at), i, i+1)
	*list.at = slices.Insert(rest, s.IntN(len(rest)+1), stmt)
	return true
}

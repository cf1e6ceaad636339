package mutate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// misspelt is the share of splices in which a name of what is taken over is not the one of its new place.
const misspelt = 0.2

// Splice returns program with a part of donor in it: a statement or an expression of the donor takes the place of one
// of the program, or a statement is added. It is blind to merit. Parts bring names along that may mean nothing in their
// new place. What is no JavaScript exchanges lines.
func Splice(program, donor string, syn lex.Language, d Draw) string {
	if syn == lex.JavaScript {
		if spliced, ok := spliceCode(program, donor, d); ok {
			return spliced
		}
	}
	return spliceLines(program, donor, d)
}

// spliceCode exchanges statements or expressions.
func spliceCode(program, donor string, d Draw) (string, bool) {
	to, ok := outlineOf(program)
	from, ok2 := outlineOf(donor)
	if !ok || !ok2 {
		return "", false
	}
	here, there := sculptor{grower{Draw: d}, to}, sculptor{grower{Draw: d}, from}
	if !here.takeStatement(there) && !here.takeExpression(there) {
		return "", false
	}
	again, ok := outlineOf(to.text())
	if !ok {
		return "", false
	}
	return again.text(), true
}

// takeStatement takes a statement over, in half of all cases.
func (s sculptor) takeStatement(from sculptor) bool {
	list, i, ok := s.at(1)
	other, j, ok2 := from.at(1)
	if !ok || !ok2 || s.Chance(0.5) {
		return false
	}
	taken := statement(misspell(textOfStatement((*other.at)[j]), s.Draw))
	if s.Chance(0.5) {
		(*list.at)[i] = taken
	} else {
		*list.at = slices.Insert(*list.at, i, taken)
	}
	return true
}

// takeExpression takes an expression over.
func (s sculptor) takeExpression(from sculptor) bool {
	p, ok := s.pick()
	if !ok {
		return false
	}
	var like []site
	for _, q := range from.sites {
		if q.test == p.test {
			like = append(like, q)
		}
	}
	if len(like) == 0 {
		return false
	}
	put(p, misspell(textOf(*like[s.IntN(len(like))].at), s.Draw))
	return true
}

// aName matches a name that is not part of another nor a member.
var aName = regexp.MustCompile(`(^|[^\w.$])([a-z_$][\w$]*)`)

// misspell gives one name in code another ending, in some cases.
func misspell(code string, d Draw) string {
	if !d.Chance(misspelt) {
		return code
	}
	var ends []int
	for _, m := range aName.FindAllStringSubmatchIndex(code, -1) {
		if !lex.IsKeyword(code[m[4]:m[5]]) {
			ends = append(ends, m[5])
		}
	}
	if len(ends) == 0 {
		return code
	}
	at := ends[d.IntN(len(ends))]
	return code[:at] + "2" + code[at:]
}

// spliceLines puts up to half of the donor's lines, which follow each other, in the place of as many of program's.
func spliceLines(program, donor string, d Draw) string {
	a, b := strings.Split(program, "\n"), strings.Split(donor, "\n")
	n := min(1+d.IntN(max(1, len(b)/2)), len(a))
	i, j := d.IntN(len(a)-n+1), d.IntN(len(b)-n+1)
	return strings.Join(slices.Concat(a[:i], b[j:j+n], a[i+n:]), "\n")
}

package agent

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/population"
)

// A program is one that the search has made before, as a session can look at it.
type program struct {
	id int // of the child; 0 is the initial program
	eval.Candidate
}

// mostEarlier is how many valid programs a session can look at, the best ones.
const mostEarlier = 100

// earlierOf returns what a session can look at: the best members of the archive, best first, and the newest invalid
// programs. Which they are follows from what the search has taken in, so a session that begins again sees the same.
func earlierOf(v *population.View) (list []program) {
	add := func(m population.Member) { list = append(list, program{m.ID, m.Candidate}) }
	members := slices.Clone(v.All.Members())
	slices.SortStableFunc(members, func(a, b population.Member) int {
		return cmp.Or(population.Compare(a, b), cmp.Compare(a.ID, b.ID))
	})
	for _, m := range members[:min(mostEarlier, len(members))] {
		add(m)
	}
	for _, m := range slices.Backward(v.Invalid) {
		if !slices.ContainsFunc(list, func(p program) bool { return p.id == m.ID }) {
			add(m)
		}
	}
	return list
}

// earlierPrograms lists the earlier programs, a line each.
func (s *session) earlierPrograms(context.Context, arguments) (string, error) {
	var b strings.Builder
	for _, p := range s.earlier {
		if r := p.Result.Clean(); r.Valid {
			fmt.Fprintf(&b, "%d: score %.6f\n", p.id, r.Score)
		} else {
			fmt.Fprintf(&b, "%d: not valid: %.200s\n", p.id, r.Reason)
		}
	}
	return b.String(), nil
}

// of returns the text of the program that a call names, or of the one that is being edited.
func (s *session) of(id *int) (text string, err error) {
	if id == nil {
		return s.program, nil
	}
	i := slices.IndexFunc(s.earlier, func(p program) bool { return p.id == *id })
	if i < 0 {
		return "", fmt.Errorf("there is no earlier program %d", *id)
	}
	return s.earlier[i].Program, nil
}

// homeOf returns what an agent that is a program finds of earlier programs in its HOME: a folder of each.
func homeOf(earlier []program) map[string]string {
	home := make(map[string]string)
	for _, p := range earlier {
		at := fmt.Sprintf("earlier/%d/", p.id)
		home[at+"program"] = p.Program
		if r := p.Result.Clean(); r.Valid {
			home[at+"score"] = fmt.Sprintf("%.6f\n", r.Score)
		} else {
			home[at+"reason"] = r.Reason + "\n"
		}
		for name, text := range p.Result.Artifacts {
			if at := at + "artifacts/" + name; fs.ValidPath(at) && !strings.Contains(name, "/") {
				home[at] = text
			}
		}
	}
	return home
}

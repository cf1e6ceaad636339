package lineage

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Colours that are told apart also by who does not see all of them (Okabe and Ito, "Color Universal Design", 2008).
const (
	onLine  = "#D55E00"
	invalid = "#999999"
)

// WriteDOT writes the run as a directed graph in the language of Graphviz, with a cluster for each arm and an edge from
// each parent to its child. Edges from parents beside the first are dashed. The best candidate has two borders, and the
// line to it is orange and thick. Invalid candidates are grey and dashed. Children without a program are left out.
func (r *Run) WriteDOT(w io.Writer) error {
	r = r.Without(func(c Candidate) bool { return !c.HasProgram() })
	g := graph{bufio.NewWriter(w), r, r.Best(), nil}
	g.line = r.Line(g.best)
	fmt.Fprintf(g.w, "digraph lineage {\n\tlabel=%s;\n\tnode [shape=box, fontname=\"sans-serif\"];\n\tedge [fontname=\"sans-serif\"];\n", quote(r.title()))
	g.nodes(-1, "\t")
	for _, arm := range r.Arms() {
		fmt.Fprintf(g.w, "\tsubgraph %s {\n\t\tlabel=%s;\n", quote(fmt.Sprintf("cluster %d", arm)), quote(fmt.Sprintf("arm %d", arm)))
		g.nodes(arm, "\t\t")
		fmt.Fprint(g.w, "\t}\n")
	}
	for i := range r.Candidates {
		g.edges(i)
	}
	fmt.Fprint(g.w, "}\n")
	return flush(g.w)
}

// title returns what the run is about.
func (r *Run) title() string {
	title := fmt.Sprintf("%d candidates", len(r.Candidates))
	if task := line(r.Fingerprint["task"]); task != "" {
		title = task + ": " + title
	}
	return title
}

// A graph is a run that is being written.
type graph struct {
	w    *bufio.Writer
	run  *Run
	best int
	line []int // to best
}

// nodes writes the nodes of an arm.
func (g *graph) nodes(arm int, indent string) {
	for i, c := range g.run.Candidates {
		if c.Arm != arm {
			continue
		}
		label := c.Name() + "\n" + c.score() + c.spread()
		if by := c.operator(); by != "" {
			label += "\n" + by
		}
		style := ""
		if slices.Contains(g.line, i) {
			style += ", color=" + quote(onLine) + ", penwidth=3"
		} else if c.score() == "invalid" {
			style += ", color=" + quote(invalid) + ", fontcolor=" + quote(invalid)
		}
		if c.score() == "invalid" {
			style += ", style=dashed"
		}
		if i == g.best {
			style += ", peripheries=2"
		}
		fmt.Fprintf(g.w, "%s%s [label=%s%s];\n", indent, quote(c.Name()), quote(label), style)
	}
}

// edges writes the edges to the candidate at position i.
func (g *graph) edges(i int) {
	c := g.run.Candidates[i]
	for k, p := range c.Parents {
		style := ""
		switch {
		case k > 0:
			style = " [style=dashed]"
		case slices.Contains(g.line, i):
			style = " [color=" + quote(onLine) + ", penwidth=3]"
		}
		fmt.Fprintf(g.w, "\t%s -> %s%s;\n", quote(g.run.Candidates[p].Name()), quote(c.Name()), style)
	}
}

// inDOT writes what has a meaning in a label as itself: quotes and backslashes to the language, ampersands to what draws
// the label, which takes "&lt;" for one character.
var inDOT = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;")

// quote returns s as a quoted string of the language.
func quote(s string) string { return `"` + inDOT.Replace(s) + `"` }

package lineage_test

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"github.com/evoalloc/evoalloc/evolve/lineage"
)

// A dotGraph is what a reader of the language finds in a graph.
type dotGraph struct {
	nodes   map[string]map[string]string // attributes
	cluster map[string]string            // the label of the cluster that a node is in
	edges   map[[2]string]map[string]string
	label   string
}

// A dotReader reads the part of the language that is needed here, as its grammar has it:
// https://graphviz.org/doc/info/lang.html
type dotReader struct {
	t    *testing.T
	text string
}

// token returns the next token: punctuation, a bare word, or a quoted string with its quotes.
func (d *dotReader) token() string {
	d.text = strings.TrimLeftFunc(d.text, unicode.IsSpace)
	size := 1
	switch {
	case d.text == "":
		return ""
	case strings.HasPrefix(d.text, "->"):
		size = 2
	case d.text[0] == '"':
		for d.text[size] != '"' {
			if d.text[size] == '\\' {
				size++
			}
			size++
		}
		size++
	case unicode.IsLetter(rune(d.text[0])) || unicode.IsDigit(rune(d.text[0])):
		size = strings.IndexFunc(d.text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' })
	}
	token := d.text[:size]
	d.text = d.text[size:]
	return token
}

func (d *dotReader) want(tokens ...string) {
	d.t.Helper()
	for _, want := range tokens {
		if got := d.token(); got != want {
			d.t.Fatalf("%q, want %q, before %.100q", got, want, d.text)
		}
	}
}

// shown is what is seen of a quoted string in a label.
func shown(quoted string) string {
	inner := strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(quoted[1 : len(quoted)-1])
	return html.UnescapeString(inner)
}

// attributes reads what stands in brackets, if anything does, and the end of the statement.
func (d *dotReader) attributes(next string) map[string]string {
	out := map[string]string{}
	for next == "[" || next == "," {
		name := d.token()
		d.want("=")
		value := d.token()
		if value[0] == '"' {
			value = shown(value)
		}
		out[name] = value
		if next = d.token(); next == "]" {
			next = d.token()
		}
	}
	if next != ";" {
		d.t.Fatalf("%q, want ;", next)
	}
	return out
}

func (d *dotReader) graph() dotGraph {
	g := dotGraph{map[string]map[string]string{}, map[string]string{}, map[[2]string]map[string]string{}, ""}
	d.want("digraph", "lineage", "{", "label", "=")
	g.label = shown(d.token())
	d.want(";")
	cluster := ""
	for {
		switch token := d.token(); token {
		case "node", "edge":
			d.attributes(d.token())
		case "subgraph":
			if name := d.token(); !strings.HasPrefix(name, `"cluster`) {
				d.t.Fatalf("%s is not drawn as a cluster", name)
			}
			d.want("{", "label", "=")
			cluster = shown(d.token())
			d.want(";")
		case "}":
			if cluster == "" {
				d.want("")
				return g
			}
			cluster = ""
		default:
			from, next := shown(token), d.token()
			if next == "->" {
				to := shown(d.token())
				g.edges[[2]string{from, to}] = d.attributes(d.token())
				continue
			}
			g.nodes[from], g.cluster[from] = d.attributes(next), cluster
		}
	}
}

func TestDOTIsTheRun(t *testing.T) {
	for reason, r := range map[string]*lineage.Run{
		"several arms":                 one(t, recorded(t, greedy(t, adder))),
		"children of several parents":  one(t, recorded(t, crossing(t, adder))),
		"invalid and without programs": small(),
		"hostile text":                 hostile(),
		"nothing":                      {},
	} {
		var b bytes.Buffer
		if err := r.WriteDOT(&b); err != nil {
			t.Fatal(err)
		}
		drawn(t, reason, b.Bytes())
		d := &dotReader{t, b.String()}
		g := d.graph()
		r = withProgram(r)
		if len(g.nodes) != len(r.Candidates) {
			t.Errorf("%s: %d nodes, want %d", reason, len(g.nodes), len(r.Candidates))
		}
		edges, line := 0, r.Line(r.Best())
		onLine := map[string]bool{}
		for _, i := range line {
			onLine[r.Candidates[i].Name()] = true
		}
		for i, c := range r.Candidates {
			n := g.nodes[c.Name()]
			if marked := n["penwidth"] == "3"; marked != onLine[c.Name()] {
				t.Errorf("%s: %s is marked: %v", reason, c.Name(), marked)
			}
			if best := n["peripheries"] == "2"; best != (i == r.Best()) {
				t.Errorf("%s: %s is the best: %v", reason, c.Name(), best)
			}
			if dashed := n["style"] == "dashed"; dashed == c.Valid {
				t.Errorf("%s: %s is dashed: %v", reason, c.Name(), dashed)
			}
			if want := map[bool]string{true: "", false: fmt.Sprintf("arm %d", c.Arm)}[c.Arm < 0]; g.cluster[c.Name()] != want {
				t.Errorf("%s: %s is in %q, want %q", reason, c.Name(), g.cluster[c.Name()], want)
			}
			for k, p := range c.Parents {
				edges++
				e, ok := g.edges[[2]string{r.Candidates[p].Name(), c.Name()}]
				if !ok || (e["style"] == "dashed") != (k > 0) || (e["penwidth"] == "3") != (k == 0 && onLine[c.Name()]) {
					t.Errorf("%s: the edge from parent %d of %s is %v", reason, k, c.Name(), e)
				}
			}
		}
		if len(g.edges) != edges {
			t.Errorf("%s: %d edges, want %d", reason, len(g.edges), edges)
		}
	}
}

// A score that is the mean of samples shows how many and how they spread, in a label and in a row.
func TestSamplesAreShown(t *testing.T) {
	c := child(0, 0, 1, "2", 0.75, 0)
	c.SD, c.Samples = 0.125, 4
	r := one(t, write(t, 1, program("1"), start(0, "1", 0.5), draw(0, 0), program("2"), c, program("3"), child(0, 1, 2, "3", 0.25, 0)))
	var dot, rows bytes.Buffer
	if err := errors.Join(r.WriteDOT(&dot), r.WriteJSONL(&rows)); err != nil {
		t.Fatal(err)
	}
	g := (&dotReader{t, dot.String()}).graph()
	if got := g.nodes["0/1.0"]["label"]; got != "0/1.0\n0.75 (sd 0.125, n 4)\nrewrite" {
		t.Errorf("the label is %q", got)
	}
	if got := g.nodes["0/1.1"]["label"]; got != "0/1.1\n0.25\nrewrite" {
		t.Errorf("the label of one sample is %q", got)
	}
	if got := rows.String(); strings.Count(got, `"score":0.75,"sd":0.125,"samples":4,`) != 1 || strings.Count(got, "samples") != 1 {
		t.Errorf("rows:\n%s", got)
	}
}

// drawn has Graphviz draw the graph, where there is one.
func drawn(t *testing.T, reason string, text []byte) {
	t.Helper()
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Logf("not drawn by Graphviz: %v", err)
		return
	}
	cmd := exec.Command(dot, "-Tsvg")
	cmd.Stdin = bytes.NewReader(text)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte("</svg>")) || bytes.Contains(said.Bytes(), []byte("rror")) {
		t.Errorf("%s: dot: %v: %s", reason, err, said.Bytes())
	}
}

// Labels show text as it is, however it reads.
func TestDOTLabels(t *testing.T) {
	for _, tt := range []struct{ reason, operator, want string }{
		{"a plain rewrite", "", "rewrite"},
		{"quotes", `a "b"`, `a "b"`},
		{"backslashes, which begin escapes", `\N \G \l \`, `\N \G \l \`},
		{"the end of a string", `x\"];`, `x\"];`},
		{"what looks like an entity", "&lt; &#65; &", "&lt; &#65; &"},
		{"tags", "<b>x</b>", "<b>x</b>"},
		{"several lines", "a\nb\r\nc", "a b c"},
		{"what a terminal obeys", "a\x1b[31mb\u202ec\x00", "abc"},
		{"what is too long", strings.Repeat("é", 300), strings.Repeat("é", 100) + "…"},
	} {
		r := &lineage.Run{Candidates: []lineage.Candidate{{Step: 1, ID: 1, Program: "x", Operator: tt.operator, Valid: true, Score: 1}}}
		var b bytes.Buffer
		if err := r.WriteDOT(&b); err != nil {
			t.Fatal(err)
		}
		drawn(t, tt.reason, b.Bytes())
		g := (&dotReader{t, b.String()}).graph()
		if got, want := g.nodes["0/1.0"]["label"], "0/1.0\n1\n"+tt.want; got != want {
			t.Errorf("%s: the label is %q, want %q", tt.reason, got, want)
		}
	}
}
